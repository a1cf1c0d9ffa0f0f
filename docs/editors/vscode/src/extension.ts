// Starts `causalist serve lsp` and brings to VS Code what the protocol has no place for.
import * as vscode from "vscode";
import {
  LanguageClient,
  type CallHierarchyIncomingCall,
  type CallHierarchyItem,
  type CallHierarchyOutgoingCall,
  type LanguageClientOptions,
  type Location,
  type ServerOptions,
} from "vscode-languageclient/node";

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
  changed: string[];
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
    middleware: {
      provideCodeLenses: (document, token, next) => (settings.get("codeLens", true) ? next(document, token) : []),
      // The server shows the first location to editors that ignore a list; here the list is shown.
      window: { showDocument: async () => ({ success: false }) },
    },
  };
  client = new LanguageClient("causalist", "Causalist", serverOptions, clientOptions);
  const tree = new AnswerTree();
  const view = vscode.window.createTreeView("causalist.answer", { treeDataProvider: tree, showCollapseAll: true });
  context.subscriptions.push(
    view,
    vscode.commands.registerCommand("causalist.ask", (question?: string) => ask(tree, view, question)),
    vscode.commands.registerCommand("causalist.copyContext", copyContext),
    vscode.commands.registerCommand("causalist.impact", impact),
    vscode.commands.registerCommand("causalist.callersHere", showAtCursor("causalist.callers")),
    vscode.commands.registerCommand("causalist.testsHere", showAtCursor("causalist.tests")),
    vscode.commands.registerCommand("causalist.showCallers", show("causalist.callers")),
    vscode.commands.registerCommand("causalist.showTests", show("causalist.tests")),
    vscode.commands.registerCommand("causalist.showChanges", show("causalist.changes")),
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(
      `Causalist: ${command} did not start (${messageOf(error)}). Install it with pip install "causalist[lsp]", or set causalist.command.`,
    );
  }
}

export async function deactivate(): Promise<void> {
  if (client?.isRunning()) await client.stop();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Sends a request of the server, about the folder of the active editor or else the first one. */
async function request<T>(method: string, params: object): Promise<T | undefined> {
  const uri = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri) ? uri : vscode.workspace.workspaceFolders?.[0]?.uri;
  const own = method.startsWith("causalist/") ? { uri: folder?.toString() } : {};
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "Causalist" },
      () => client!.sendRequest<T>(method, { ...own, ...params }),
    );
  } catch (error) {
    void vscode.window.showErrorMessage(`Causalist: ${messageOf(error)}`);
    return undefined;
  }
}

// -- questions

async function ask(tree: AnswerTree, view: vscode.TreeView<Item>, given?: string): Promise<void> {
  const selected = vscode.window.activeTextEditor?.document.getText(vscode.window.activeTextEditor.selection) ?? "";
  const question = given ?? await vscode.window.showInputBox({
    title: "Ask the code",
    placeHolder: "Where does … happen?",
    value: selected.includes("\n") ? "" : selected,
  });
  if (!question) return;
  const answer = await request<Answer>("causalist/ask", { question });
  if (!answer) return;
  tree.show(answer);
  view.message = answer.results.length ? question : `Nothing found: ${question}`;
  await vscode.commands.executeCommand("causalist.answer.focus");
}

async function copyContext(): Promise<void> {
  const question = await vscode.window.showInputBox({ title: "Context for a question", placeHolder: "Where does … happen?" });
  if (!question) return;
  const context = await request<{ text: string }>("causalist/context", { question });
  if (!context) return;
  await vscode.env.clipboard.writeText(context.text);
  void vscode.window.setStatusBarMessage("Causalist: copied", 3000);
}

// -- the definition at the cursor, or the one around it

async function impactAtCursor(options: object): Promise<Impact | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return undefined;
  return request<Impact>("causalist/impact", {
    textDocument: { uri: editor.document.uri.toString() },
    position: client!.code2ProtocolConverter.asPosition(editor.selection.active),
    ...options,
  });
}

async function impact(): Promise<void> {
  const found = await impactAtCursor({ min_confidence: 0.5 });
  if (!found) return;
  const picked = await vscode.window.showQuickPick(
    found.affected.map((each) => ({
      label: each.node,
      description: each.role === "test" ? "test" : "",
      detail: `${each.depth} step${each.depth > 1 ? "s" : ""} away: ${each.edge.kind} ${each.edge.target}`,
      place: found.places[each.node],
    })),
    { title: `${found.n} depend on ${found.changed[0]}`, matchOnDetail: true },
  );
  if (!picked?.place) return;
  const place = client!.protocol2CodeConverter.asLocation(picked.place);
  await vscode.window.showTextDocument(place.uri, { selection: place.range });
}

function showAtCursor(command: string) {
  return async (): Promise<void> => {
    const editor = vscode.window.activeTextEditor;
    const found = await impactAtCursor({ max_depth: 1 });
    if (!editor || !found) return;
    await show(command)(editor.document.uri.toString(), editor.selection.active, found.changed[0]);
  };
}

/** Shows the locations of a command of the server, for `[uri, position, node]` as it puts them into a lens. */
function show(command: string) {
  return async (uri: string, position: { line: number; character: number }, node: string): Promise<void> => {
    const found = await execute(command, uri, position, node);
    if (!found) return;
    if (!found.length) {
      void vscode.window.showInformationMessage(`Causalist: nothing is known for ${node}`);
      return;
    }
    await vscode.commands.executeCommand(
      "editor.action.showReferences",
      vscode.Uri.parse(uri),
      client!.protocol2CodeConverter.asPosition(position),
      found.map((each) => client!.protocol2CodeConverter.asLocation(each)),
    );
  };
}

async function execute(command: string, uri: string, position: object, node: string): Promise<Location[] | undefined> {
  const { line, character } = position as { line: number; character: number };
  const found = await request<Location[] | null>("workspace/executeCommand", {
    command,
    arguments: [uri, { line, character }, node],
  });
  return found === undefined ? undefined : found ?? [];
}

// -- the view of an answer: results, and the graph around each as far as it is unfolded

type Way = "callers" | "calls" | "tests";
const TITLES: Record<Way, string> = { callers: "Called by", calls: "Calls", tests: "Tests" };

interface Place {
  uri: string;
  line: number;
}

type Item =
  | { type: "node"; node: string; label: string; description: string; tooltip: string; kind: string; place: Place }
  | { type: "way"; way: Way; node: string; place: Place }
  | { type: "place"; label: string; description: string; place: Place };

const ICONS: Record<string, string> = {
  class: "symbol-class", interface: "symbol-interface", struct: "symbol-struct", enum: "symbol-enum", method: "symbol-method",
  function: "symbol-function", constant: "symbol-constant", field: "symbol-field", file: "file", passage: "book",
};

class AnswerTree implements vscode.TreeDataProvider<Item> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private results: Item[] = [];

  show(answer: Answer): void {
    const root = vscode.Uri.file(answer.repository.root);
    this.results = answer.results.map((result) => ({
      type: "node",
      node: result.node,
      label: `${result.rank}. ${result.symbol ?? result.path}`,
      description: `${result.path}:${result.start_line}`,
      tooltip: result.reasons.map((reason) => `${reason.signal} ${reason.detail}`.trim()).join("\n"),
      kind: result.kind,
      place: { uri: vscode.Uri.joinPath(root, result.path).toString(), line: result.start_line - 1 },
    }));
    this.changed.fire();
  }

  getTreeItem(item: Item): vscode.TreeItem {
    if (item.type === "way") return new vscode.TreeItem(TITLES[item.way], vscode.TreeItemCollapsibleState.Collapsed);
    const state = item.type === "node" ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
    const shown = new vscode.TreeItem(item.label, state);
    shown.description = item.description;
    if (item.type === "node") {
      shown.tooltip = item.tooltip || item.node;
      shown.iconPath = new vscode.ThemeIcon(ICONS[item.kind] ?? "symbol-misc");
    }
    const at = new vscode.Position(item.place.line, 0);
    shown.command = {
      command: "vscode.open",
      title: "Open",
      arguments: [vscode.Uri.parse(item.place.uri), { selection: new vscode.Range(at, at) }],
    };
    return shown;
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (!item) return this.results;
    if (item.type === "place") return [];
    if (item.type === "node") {
      return (Object.keys(TITLES) as Way[]).map((way) => ({ type: "way", way, node: item.node, place: item.place }));
    }
    if (item.way === "tests") {
      const found = await execute("causalist.tests", item.place.uri, { line: item.place.line, character: 0 }, item.node);
      return (found ?? []).map((each) => placeOf(each));
    }
    const named = { item: hierarchyItem(item.node, item.place) };
    if (item.way === "callers") {
      const found = await request<CallHierarchyIncomingCall[] | null>("callHierarchy/incomingCalls", named);
      return (found ?? []).map((each) => nodeOf(each.from));
    }
    const found = await request<CallHierarchyOutgoingCall[] | null>("callHierarchy/outgoingCalls", named);
    return (found ?? []).map((each) => nodeOf(each.to));
  }
}

function placeOf({ uri, range }: Location): Item {
  const path = vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
  return { type: "place", label: path, description: `line ${range.start.line + 1}`, place: { uri, line: range.start.line } };
}

function nodeOf(found: CallHierarchyItem): Item {
  const place = { uri: found.uri, line: found.selectionRange.start.line };
  const path = vscode.workspace.asRelativePath(vscode.Uri.parse(found.uri));
  const node = (found.data as { node?: string } | undefined)?.node ?? found.name;
  return { type: "node", node, label: found.name, description: `${path}:${place.line + 1}`, tooltip: node, kind: "function", place };
}

/** The server reads the id of the node; the rest is what the protocol wants. */
function hierarchyItem(node: string, place: Place): CallHierarchyItem {
  const start = { line: place.line, character: 0 };
  return { name: node, kind: 12, uri: place.uri, range: { start, end: start }, selectionRange: { start, end: start }, data: { node } };
}
