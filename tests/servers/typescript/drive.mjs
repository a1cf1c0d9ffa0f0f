// Drives a server with the official TypeScript client: every tool, resource and prompt that it lists.
//
//   node drive.mjs stdio COMMAND ARGUMENT...
//   node drive.mjs http URL TOKEN
//
// Reads {tool: arguments} as JSON on standard input. Prints one JSON document: what was listed and what came back. The
// client checks structured results against the schema of their tool and throws where they do not fit.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.env.CAUSALIST_NODE_MODULES}/x.js`));
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)).href);
const { Client } = await load("index");

const [kind, ...rest] = process.argv.slice(2);
let transport;
if (kind === "stdio") {
  const { StdioClientTransport } = await load("stdio");
  transport = new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" });
} else {
  const { StreamableHTTPClientTransport } = await load("streamableHttp");
  const requestInit = { headers: { Authorization: `Bearer ${rest[1]}` } };
  transport = new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit });
}
const client = new Client({ name: "drive", version: "1" });
await client.connect(transport);
const calls = JSON.parse(readFileSync(0, "utf8"));
const listed = (await client.listTools()).tools;
const results = {};
for (const tool of listed) {
  results[tool.name] = await client.callTool({ name: tool.name, arguments: calls[tool.name] ?? {} });
}
const mistake = await client.callTool({ name: "symbol", arguments: { name: "no_such_thing" } });
const resources = (await client.listResources()).resources;
const map = await client.readResource({ uri: resources[0].uri });
const templates = (await client.listResourceTemplates()).resourceTemplates;
const prompts = (await client.listPrompts()).prompts;
const prompt = await client.getPrompt({ name: prompts[0].name, arguments: { task: "change the tax" } });
const server = client.getServerVersion();
console.log(JSON.stringify({ server, listed, results, mistake, resources, map, templates, prompts, prompt }));
await client.close();
