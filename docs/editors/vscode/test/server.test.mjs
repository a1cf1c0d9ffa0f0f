// The server as VS Code's own protocol library meets it. CAUSALIST_COMMAND is a JSON array that starts it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const rpc = require("vscode-jsonrpc/node");
const lsp = require("vscode-languageserver-protocol");

const [program, ...args] = JSON.parse(process.env.CAUSALIST_COMMAND ?? '["causalist", "serve", "lsp"]');
const SAVED = 'def price_of(item):\n    """With tax."""\n    return with_tax(item.net)\n\n\ndef with_tax(net):\n    return net * 1.2\n';
const OPENED = "# 😀\ndef price_of(item):\n    return with_tax(item.net)\n\n\ndef with_tax(net):\n    return net * 1.2\n";

async function connected(run) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "causalist-")));
  await mkdir(join(folder, "shop"));
  await writeFile(join(folder, "shop", "prices.py"), SAVED);
  const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(server, "exit");
  const connection = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
  connection.onRequest(lsp.RegistrationRequest.type, () => undefined);
  connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => undefined);
  connection.onRequest(lsp.CodeLensRefreshRequest.type, () => undefined);
  connection.listen();
  const uri = pathToFileURL(folder).toString();
  try {
    const started = await connection.sendRequest(lsp.InitializeRequest.type, {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: "shop" }],
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        textDocument: { hover: { contentFormat: ["markdown"] }, codeLens: {} },
        workspace: { codeLens: { refreshSupport: true }, didChangeWatchedFiles: { dynamicRegistration: true } },
        window: { workDoneProgress: true },
      },
      initializationOptions: { callersCommand: "causalist.showCallers" },
    });
    await connection.sendNotification(lsp.InitializedNotification.type, {});
    await run(connection, `${uri}/shop/prices.py`, started);
    await connection.sendRequest(lsp.ShutdownRequest.type);
    await connection.sendNotification(lsp.ExitNotification.type);
    assert.deepEqual(await exited, [0, null]);
  } finally {
    server.kill();
    connection.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

test("everything that the extension uses", { timeout: 60_000 }, async () => {
  await connected(async (connection, uri, started) => {
    const ask = (type, params) => connection.sendRequest(type, params);
    assert.equal(started.capabilities.positionEncoding, "utf-16");
    assert.equal(started.capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental);
    assert.equal(started.capabilities.definitionProvider, undefined);

    const answer = await ask("causalist/ask", { question: "price with tax", uri });
    assert.equal(answer.format_version, 1);
    assert.ok(answer.results.some((each) => each.node === "shop/prices.py::with_tax"));

    const textDocument = { uri };
    await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "python", version: 1, text: OPENED },
    });
    const symbols = await ask(lsp.WorkspaceSymbolRequest.type, { query: "with_tax" });
    assert.deepEqual(symbols[0].location.range.start, { line: 5, character: 4 });

    const every = await ask(lsp.CodeLensRequest.type, { textDocument });
    const lenses = every.filter((each) => each.data.lens === "callers");
    assert.deepEqual(lenses.map((each) => each.range.start.line), [1, 5]);
    const lens = await ask(lsp.CodeLensResolveRequest.type, lenses[1]);
    assert.equal(lens.command.title, "1 caller");
    assert.equal(lens.command.command, "causalist.showCallers");
    const callers = await ask(lsp.ExecuteCommandRequest.type, { command: "causalist.callers", arguments: lens.command.arguments });
    assert.deepEqual(callers, [{ uri, range: { start: { line: 2, character: 11 }, end: { line: 2, character: 19 } } }]);

    const hover = await ask(lsp.HoverRequest.type, { textDocument, position: { line: 2, character: 14 } });
    assert.match(hover.contents.value, /def with_tax\(net\)/);

    const [item] = await ask(lsp.CallHierarchyPrepareRequest.type, { textDocument, position: { line: 5, character: 6 } });
    const incoming = await ask(lsp.CallHierarchyIncomingCallsRequest.type, { item });
    assert.deepEqual(incoming.map((each) => each.from.name), ["price_of"]);
    const outgoing = await ask(lsp.CallHierarchyOutgoingCallsRequest.type, { item: incoming[0].from });
    assert.deepEqual(outgoing.map((each) => each.to.name), ["with_tax"]);

    // As the view unfolds a result: with the id of a node and a place alone.
    const start = { line: 5, character: 0 };
    const made = { name: "with_tax", kind: 12, uri, range: { start, end: start }, selectionRange: { start, end: start }, data: { node: "shop/prices.py::with_tax" } };
    assert.deepEqual((await ask(lsp.CallHierarchyIncomingCallsRequest.type, { item: made })).map((each) => each.from.data.node), ["shop/prices.py::price_of"]);
    const tests = await ask(lsp.ExecuteCommandRequest.type, { command: "causalist.tests", arguments: [uri, start, "shop/prices.py::with_tax"] });
    assert.deepEqual(tests, []);

    // In the first column, as commands at the cursor are run.
    const around = await ask("causalist/impact", { textDocument, position: { line: 6, character: 0 }, max_depth: 1 });
    assert.deepEqual(around.changed, ["shop/prices.py::with_tax"]);

    const impact = await ask("causalist/impact", { textDocument, position: { line: 5, character: 6 } });
    assert.equal(impact.n, 1);
    assert.equal(impact.places["shop/prices.py::price_of"].uri, uri);
    const context = await ask("causalist/context", { question: "price with tax", uri });
    assert.match(context.text, /^# price with tax/);
    await assert.rejects(ask("causalist/ask", { question: " ", uri }), /empty-question/);
  });
});
