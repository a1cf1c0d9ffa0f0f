// Starts `causalist serve lsp` and brings to VS Code what the protocol has no place for.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type Location, type ServerOptions } from "vscode-languageclient/node";

interface Result {
  rank: number;
  node: string;
  path: string;
  symbol: string | null;
  kind: string;
  start_line: number;
  reasons: { signal: string; detail: string }[];
}

interface Answer {
  repository: { root: string };
  results: Result[];
}

interface Impact {
  n: number;
  affected: { node: string; depth: number; role: string; edge: { kind: string; target: string } }[];
  places: Record<string, Location>;
}

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration("causalist");
  const [command = "causalist", ...args] = settings.get<string[]>("command") ?? [];
  const serverOptions: ServerOptions = { command, args };
  const clientOptions: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: {
      callersCommand: "causalist.showCallers",
      testsCommand: "causalist.showTests",
      changesCommand: "causalist.showChanges",
      definition: settings.get("definition"),
      references: settings.get("references"),
    },
  };
  client = new LanguageClient("causalist", "Causalist", serverOptions, clientOptions);
  context.subscriptions.push(
    vscode.commands.registerCommand("causalist.ask", ask),
    vscode.commands.registerCommand("causalist.copyContext", copyContext),
    vscode.commands.registerCommand("causalist.impact", impact),
    vscode.commands.registerCommand("causalist.showCallers", show("causalist.callers")),
    vscode.commands.registerCommand("causalist.showTests", show("causalist.tests")),
    vscode.commands.registerCommand("causalist.showChanges", show("causalist.changes")),
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** Sends one of Causalist's own requests, about the folder of the active editor or else the first one. */
async function request<T>(method: string, params: object): Promise<T | undefined> {
  const uri = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri) ? uri : vscode.workspace.workspaceFolders?.[0]?.uri;
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "Causalist" },
      () => client!.sendRequest<T>(method, { uri: folder?.toString(), ...params }),
    );
  } catch (error) {
    void vscode.window.showErrorMessage(`Causalist: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function ask(): Promise<void> {
  const selected = vscode.window.activeTextEditor?.document.getText(vscode.window.activeTextEditor.selection) ?? "";
  const question = await vscode.window.showInputBox({
    title: "Ask the code",
    placeHolder: "Where does … happen?",
    value: selected.includes("\n") ? "" : selected,
  });
  if (!question) return;
  const answer = await request<Answer>("causalist/ask", { question });
  if (!answer) return;
  const picked = await vscode.window.showQuickPick(
    answer.results.map((result) => ({
      label: `${result.rank}. ${result.symbol ?? result.path}`,
      description: `${result.path}:${result.start_line}`,
      detail: result.reasons.map((reason) => `${reason.signal} ${reason.detail}`.trim()).join(" · "),
      result,
    })),
    { title: question, matchOnDescription: true, placeHolder: answer.results.length ? "" : "Nothing found" },
  );
  if (!picked) return;
  const uri = vscode.Uri.joinPath(vscode.Uri.file(answer.repository.root), picked.result.path);
  const line = new vscode.Position(picked.result.start_line - 1, 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(line, line) });
}

async function copyContext(): Promise<void> {
  const question = await vscode.window.showInputBox({ title: "Context for a question", placeHolder: "Where does … happen?" });
  if (!question) return;
  const context = await request<{ text: string }>("causalist/context", { question });
  if (!context) return;
  await vscode.env.clipboard.writeText(context.text);
  void vscode.window.setStatusBarMessage("Causalist: copied", 3000);
}

async function impact(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const position = client!.code2ProtocolConverter.asPosition(editor.selection.active);
  const found = await request<Impact>("causalist/impact", {
    textDocument: { uri: editor.document.uri.toString() },
    position,
    min_confidence: 0.5,
  });
  if (!found) return;
  const picked = await vscode.window.showQuickPick(
    found.affected.map((each) => ({
      label: each.node,
      description: each.role === "test" ? "test" : "",
      detail: `${each.depth} step${each.depth > 1 ? "s" : ""} away: ${each.edge.kind} ${each.edge.target}`,
      place: found.places[each.node],
    })),
    { title: `${found.n} depend on this`, matchOnDetail: true },
  );
  if (!picked?.place) return;
  const place = client!.protocol2CodeConverter.asLocation(picked.place);
  await vscode.window.showTextDocument(place.uri, { selection: place.range });
}

/** What a lens runs, with `[uri, position, node]` as the server put them there: the locations of a command of it. */
function show(command: string) {
  return async (uri: string, position: { line: number; character: number }, node: string): Promise<void> => {
    const found = await client!.sendRequest<Location[] | null>("workspace/executeCommand", {
      command,
      arguments: [uri, position, node],
    });
    await vscode.commands.executeCommand(
      "editor.action.showReferences",
      vscode.Uri.parse(uri),
      client!.protocol2CodeConverter.asPosition(position),
      (found ?? []).map((each) => client!.protocol2CodeConverter.asLocation(each)),
    );
  };
}
