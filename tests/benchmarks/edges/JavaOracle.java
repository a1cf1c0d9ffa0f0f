import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.tools.*;

/**
 * The true edges of Java sources by the compiler: one JSON object a line, as `tests.benchmarks.edges` reads them.
 *
 * <p>Arguments: the root of the repository, its name, its commit, the class path ("-" for none), then folders of sources
 * below the root. Nothing is compiled to class files; calls that the compiler cannot resolve are printed as unknown.
 */
public class JavaOracle {
  private final Path root;
  private final Map<Element, String> nameOf = new HashMap<>(); // definitions of the covered files
  private final Map<Element, Long> lineOf = new HashMap<>();
  private final Map<Tree, String> anonymousName = new IdentityHashMap<>();
  private final Set<String> rows = new LinkedHashSet<>();
  private final Map<String, Map<String, Object>> edges = new LinkedHashMap<>();
  private Trees trees;

  JavaOracle(Path root) {
    this.root = root;
  }

  public static void main(String[] arguments) throws IOException {
    Path root = Paths.get(arguments[0]).toRealPath();
    new JavaOracle(root).run(arguments[1], arguments[2], arguments[3], Arrays.asList(arguments).subList(4, arguments.length));
  }

  private void run(String repository, String commit, String classPath, List<String> folders) throws IOException {
    List<Path> paths = new ArrayList<>();
    for (String folder : folders) {
      try (Stream<Path> found = Files.walk(root.resolve(folder))) {
        found.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java")).forEach(paths::add);
      }
    }
    Collections.sort(paths);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
    List<String> options = new ArrayList<>(List.of("-proc:none", "-Xmaxerrs", "1000000", "-XDshould-stop.ifError=FLOW"));
    if (!classPath.equals("-")) {
      options.addAll(List.of("-classpath", classPath));
    }
    JavacTask task = (JavacTask) compiler.getTask(
        new PrintWriter(System.err), manager, problems, options, null, manager.getJavaFileObjectsFromPaths(paths));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    trees = Trees.instance(task);
    for (CompilationUnitTree unit : units) {
      new Definitions(unit).scan(unit, null);
    }
    for (CompilationUnitTree unit : units) {
      new Uses(unit).scan(unit, null);
    }
    long errors = problems.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).count();
    System.err.println(repository + ": " + paths.size() + " files, " + errors + " errors of the compiler");
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    String files = paths.stream().map(p -> quoted(relative(p))).collect(Collectors.joining(", "));
    out.println("{\"meta\": {\"repo\": " + quoted(repository) + ", \"commit\": " + quoted(commit)
        + ", \"language\": \"java\", \"engines\": \"javac " + System.getProperty("java.version") + "\", \"files\": [" + files + "]}}");
    edges.values().forEach(edge -> out.println(json(edge)));
    rows.forEach(out::println);
    out.flush();
  }

  private String relative(Path path) {
    return root.relativize(path).toString().replace(File.separatorChar, '/');
  }

  private void edge(String kind, String source, String target, String category, String alternative, Long line) {
    Map<String, Object> edge = edges.computeIfAbsent(kind + " " + source + " " + target, key -> {
      Map<String, Object> made = new LinkedHashMap<>();
      made.put("kind", kind);
      made.put("src", source);
      made.put("dst", target);
      made.put("cat", category);
      made.put("by", "javac");
      made.put("n", 0);
      return made;
    });
    edge.put("n", (Integer) edge.get("n") + 1);
    if (alternative != null) {
      edge.put("alt", new TreeSet<>(Set.of(alternative)));
    }
    if (line != null) {
      @SuppressWarnings("unchecked")
      Set<Long> lines = (Set<Long>) edge.computeIfAbsent("dst_lines", key -> new TreeSet<Long>());
      lines.add(line);
    }
  }

  private static String json(Map<String, Object> row) {
    return row.entrySet().stream().map(e -> quoted(e.getKey()) + ": " + value(e.getValue())).collect(Collectors.joining(", ", "{", "}"));
  }

  private static String value(Object value) {
    if (value instanceof Collection<?> many) {
      return many.stream().map(JavaOracle::value).collect(Collectors.joining(", ", "[", "]"));
    }
    return value instanceof Number ? value.toString() : quoted((String) value);
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** What all passes over a file share: where they stand, and what that is called. */
  private abstract class Pass extends TreePathScanner<Void, Void> {
    final CompilationUnitTree unit;
    final String path;

    Pass(CompilationUnitTree unit) {
      this.unit = unit;
      this.path = relative(Paths.get(unit.getSourceFile().toUri()));
    }

    long start(Tree tree) {
      return trees.getSourcePositions().getStartPosition(unit, tree);
    }

    long line(Tree tree) {
      return unit.getLineMap().getLineNumber(start(tree));
    }

    /** Whether the source says it, rather than the compiler: default constructors and calls of super() have no text. */
    boolean isWritten(Tree tree, String text) {
      long at = start(tree);
      try {
        return at >= 0 && unit.getSourceFile().getCharContent(true).toString().startsWith(text, (int) at);
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }

    /** The body of an enum's constant belongs to the enum under the constant's name; it is no class of its own. */
    boolean isConstantBody(TreePath at) {
      return at.getLeaf() instanceof ClassTree && at.getParentPath().getLeaf() instanceof NewClassTree
          && at.getParentPath().getParentPath().getLeaf() instanceof VariableTree variable
          && isEnumConstant(at.getParentPath().getParentPath(), variable);
    }

    boolean isEnumConstant(TreePath at, VariableTree variable) {
      Element element = trees.getElement(at);
      return element != null && element.getKind() == ElementKind.ENUM_CONSTANT;
    }

    /** The qualified name of the definition at `at`, or of the innermost one around it; "" for none. */
    String qualname(TreePath at) {
      List<String> parts = new ArrayList<>();
      for (TreePath each = at; each != null; each = each.getParentPath()) {
        Tree leaf = each.getLeaf();
        if (leaf instanceof MethodTree method && !(isGenerated(each))) {
          parts.add(method.getName().contentEquals("<init>") ? "constructor" : method.getName().toString());
        } else if (leaf instanceof VariableTree variable && isEnumConstant(each, variable)
            && (each == at || hasBody(variable))) {
          parts.add(variable.getName().toString());
        } else if (leaf instanceof ClassTree type && !isConstantBody(each)) {
          parts.add(type.getSimpleName().length() > 0 ? type.getSimpleName().toString() : anonymousName.get(leaf));
        }
      }
      Collections.reverse(parts);
      return String.join(".", parts);
    }

    boolean hasBody(VariableTree constant) {
      return constant.getInitializer() instanceof NewClassTree made && made.getClassBody() != null;
    }

    boolean isGenerated(TreePath at) {
      return trees.getSourcePositions().getEndPosition(unit, at.getLeaf()) < 0;
    }
  }

  /** Names of all definitions; anonymous classes are counted by the names that they would have without a number. */
  private class Definitions extends Pass {
    private final Map<String, Integer> counts = new HashMap<>();

    Definitions(CompilationUnitTree unit) {
      super(unit);
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void unused) {
      // Bodies are numbered in the order in which they begin: those among the arguments come first.
      scan(tree.getEnclosingExpression(), null);
      scan(tree.getIdentifier(), null);
      scan(tree.getTypeArguments(), null);
      scan(tree.getArguments(), null);
      if (tree.getClassBody() != null) {
        String prefix = qualname(getCurrentPath());
        String base = simpleName(tree.getIdentifier());
        String key = prefix.isEmpty() ? base : prefix + "." + base;
        int number = counts.merge(key, 1, Integer::sum);
        anonymousName.put(tree.getClassBody(), base + "$" + number);
        scan(tree.getClassBody(), null);
      }
      return null;
    }

    private String simpleName(Tree type) {
      if (type instanceof ParameterizedTypeTree generic) {
        return simpleName(generic.getType());
      }
      if (type instanceof AnnotatedTypeTree annotated) {
        return simpleName(annotated.getUnderlyingType());
      }
      return type instanceof MemberSelectTree select ? select.getIdentifier().toString() : type.toString();
    }

    @Override
    public Void visitClass(ClassTree tree, Void unused) {
      if (!isConstantBody(getCurrentPath())) {
        define("class");
      }
      return super.visitClass(tree, null);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void unused) {
      if (isGenerated(getCurrentPath())) {
        return null;
      }
      define("method");
      return super.visitMethod(tree, null);
    }

    @Override
    public Void visitVariable(VariableTree tree, Void unused) {
      TreePath around = getCurrentPath().getParentPath();
      if (around.getLeaf() instanceof ClassTree) {
        String inside = qualname(around);
        String name = tree.getName().toString();
        boolean ofConstant = isConstantBody(around);
        edge("contains", path + ":" + (ofConstant ? qualname(around.getParentPath().getParentPath().getParentPath()) : inside),
            path + ":" + inside + "." + name, "field", null, null);
      }
      return super.visitVariable(tree, null);
    }

    private void define(String category) {
      String name = path + ":" + qualname(getCurrentPath());
      Element element = trees.getElement(getCurrentPath());
      if (element != null) {
        nameOf.put(element, name);
        lineOf.put(element, line(getCurrentPath().getLeaf()));
      }
      TreePath above = getCurrentPath().getParentPath();
      if (isConstantBody(above)) {
        above = above.getParentPath().getParentPath().getParentPath(); // the enum, past `new` and the constant
      }
      String around = qualname(above);
      edge("contains", path + ":" + (around.isEmpty() ? "<module>" : around), name, category, null, null);
    }
  }

  /** Calls, bases and imports. */
  private class Uses extends Pass {
    private final Set<String> starred = new TreeSet<>(); // packages of which everything is imported

    Uses(CompilationUnitTree unit) {
      super(unit);
    }

    private String source() {
      TreePath at = getCurrentPath();
      while (at != null && !(at.getLeaf() instanceof MethodTree && !isGenerated(at))
          && !(at.getLeaf() instanceof ClassTree && !isConstantBody(at))) {
        at = at.getParentPath();
      }
      return path + ":" + (at == null ? "<module>" : qualname(at));
    }

    private void unknown(String name) {
      rows.add("{\"kind\": \"calls\", \"src\": " + quoted(source()) + ", \"unknown\": " + quoted(name) + "}");
    }

    @Override
    public Void visitImport(ImportTree tree, Void unused) {
      MemberSelectTree name = (MemberSelectTree) tree.getQualifiedIdentifier();
      TreePath at = new TreePath(getCurrentPath(), name);
      boolean all = name.getIdentifier().contentEquals("*");
      Element element = trees.getElement(tree.isStatic() || all ? new TreePath(at, name.getExpression()) : at);
      if (element instanceof TypeElement type) {
        importOf(type, tree.isStatic() ? "import_static" : "import");
      } else if (all) {
        starred.add(name.getExpression().toString());
      }
      return null; // the names of an import are no uses
    }

    private void importOf(Element type, String category) {
      String target = nameOf.get(type);
      if (target != null && !target.startsWith(path + ":")) {
        edge("imports", path + ":<module>", target.substring(0, target.indexOf(':')) + ":<module>", category, null, null);
      }
    }

    @Override
    public Void visitIdentifier(IdentifierTree tree, Void unused) {
      Element element = trees.getElement(getCurrentPath());
      if (element instanceof TypeElement type && type.getNestingKind() == NestingKind.TOP_LEVEL
          && starred.contains(((PackageElement) type.getEnclosingElement()).getQualifiedName().toString())
          && !((PackageElement) type.getEnclosingElement()).getQualifiedName().contentEquals(
              unit.getPackageName() == null ? "" : unit.getPackageName().toString())) {
        importOf(type, "import_star");
      }
      return super.visitIdentifier(tree, null);
    }

    @Override
    public Void visitClass(ClassTree tree, Void unused) {
      TreePath at = getCurrentPath();
      if (!isConstantBody(at)) {
        if (at.getParentPath().getLeaf() instanceof NewClassTree made) {
          base(new TreePath(at.getParentPath(), made.getIdentifier()), "anonymous");
        } else {
          if (tree.getExtendsClause() != null && tree.getKind() != Tree.Kind.ENUM) {
            base(new TreePath(at, tree.getExtendsClause()), "base");
          }
          tree.getImplementsClause().forEach(each -> base(new TreePath(at, each), "implements"));
        }
      }
      return super.visitClass(tree, null);
    }

    private void base(TreePath at, String category) {
      Element element = trees.getElement(at);
      if (element == null && at.getLeaf() instanceof ParameterizedTypeTree generic) {
        element = trees.getElement(new TreePath(at, generic.getType()));
      }
      String target = nameOf.get(element);
      String source = path + ":" + qualname(getCurrentPath());
      if (target != null && !target.equals(source)) {
        edge("extends", source, target, category, null, null);
      }
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void unused) {
      Element element = trees.getElement(getCurrentPath());
      TreePath at = new TreePath(getCurrentPath(), tree.getIdentifier());
      boolean isConstant = getCurrentPath().getParentPath().getLeaf() instanceof VariableTree variable
          && isEnumConstant(getCurrentPath().getParentPath(), variable);
      if (!isConstant) {
        Element type = trees.getElement(at);
        if (type == null && tree.getIdentifier() instanceof ParameterizedTypeTree generic) {
          type = trees.getElement(new TreePath(at, generic.getType()));
        }
        if (type == null || type.asType().getKind() == TypeKind.ERROR || element == null) {
          unknown(lastName(tree.getIdentifier()));
        } else if (nameOf.containsKey(type)) {
          edge("calls", source(), nameOf.get(type), tree.getClassBody() == null ? "new" : "new_anonymous", null, null);
        }
      }
      return super.visitNewClass(tree, null);
    }

    private String lastName(Tree type) {
      String text = type.toString().replaceAll("<.*", "");
      return text.substring(text.lastIndexOf('.') + 1);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void unused) {
      return isGenerated(getCurrentPath()) ? null : super.visitMethod(tree, null);
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Void unused) {
      ExpressionTree called = tree.getMethodSelect();
      String name = called instanceof MemberSelectTree select ? select.getIdentifier().toString() : called.toString();
      Element element = trees.getElement(new TreePath(getCurrentPath(), called));
      if (name.equals("super") || name.equals("this")) {
        String target = element == null ? null : nameOf.get(element.getEnclosingElement());
        if (target != null && (isWritten(tree, name) || called instanceof MemberSelectTree)) {
          edge("calls", source(), target, name + "_constructor", target + ".constructor", lineOf.get(element));
        }
      } else if (!(element instanceof ExecutableElement) || element.asType().getKind() == TypeKind.ERROR) {
        unknown(name);
      } else if (nameOf.containsKey(element)) {
        edge("calls", source(), nameOf.get(element), category(called, element), null, lineOf.get(element));
      }
      return super.visitMethodInvocation(tree, null);
    }

    /** What a resolver must know to find the target. */
    private String category(ExpressionTree called, Element element) {
      if (called instanceof IdentifierTree) {
        TreePath at = getCurrentPath();
        for (boolean first = true; at != null; at = at.getParentPath()) {
          if (at.getLeaf() instanceof ClassTree && trees.getElement(at) instanceof TypeElement around) {
            if (around.equals(element.getEnclosingElement())) {
              return first ? "own" : "outer";
            }
            if (around.getEnclosedElements().stream().noneMatch(e -> e.getSimpleName().equals(element.getSimpleName()))
                && isMember(around, element)) {
              return first ? "inherited" : "outer_inherited";
            }
            first = false;
          }
        }
        return "static_import";
      }
      ExpressionTree receiver = ((MemberSelectTree) called).getExpression();
      TreePath at = new TreePath(new TreePath(getCurrentPath(), called), receiver);
      TypeMirror type = trees.getTypeMirror(at);
      if (type != null && type.getKind() == TypeKind.TYPEVAR) {
        return "type_parameter";
      }
      while (receiver instanceof ParenthesizedTree inside) {
        receiver = inside.getExpression();
        at = new TreePath(at, receiver);
      }
      if (receiver instanceof TypeCastTree) {
        return "cast";
      }
      if (receiver instanceof ArrayAccessTree) {
        return "array_element";
      }
      if (receiver instanceof NewClassTree) {
        return "new_chain";
      }
      if (receiver instanceof MethodInvocationTree inner) {
        return declaredReturn(at, inner);
      }
      Element held = trees.getElement(at);
      String text = receiver.toString();
      if (text.equals("super") || text.endsWith(".super")) {
        return "super";
      }
      if (text.equals("this") || text.endsWith(".this")) {
        return "this";
      }
      if (held == null) {
        return "other";
      }
      String suffix = receiver instanceof MemberSelectTree && !text.startsWith("this.") ? "_chain" : "";
      if (held.getKind() == ElementKind.PARAMETER && trees.getPath(held) != null
          && trees.getPath(held).getParentPath().getLeaf() instanceof LambdaExpressionTree) {
        return "lambda_parameter";
      }
      if (held instanceof VariableElement && held.asType().getKind() == TypeKind.TYPEVAR) {
        return "generic_field";
      }
      return (held instanceof TypeElement ? "static" : held.getKind().toString().toLowerCase(Locale.ROOT)) + suffix;
    }

    /** A chain through a method outside of the sources, or whose declared type is a type parameter, needs generics. */
    private String declaredReturn(TreePath at, MethodInvocationTree inner) {
      Element element = trees.getElement(new TreePath(at, inner.getMethodSelect()));
      if (!(element instanceof ExecutableElement method)) {
        return "other";
      }
      if (method.getReturnType().getKind() == TypeKind.TYPEVAR) {
        return nameOf.containsKey(element) ? "chain_generic" : "chain_library";
      }
      return nameOf.containsKey(element) ? "chain" : "chain_library";
    }

    private boolean isMember(TypeElement type, Element element) {
      TypeMirror above = type.getSuperclass();
      List<TypeMirror> bases = new ArrayList<>(type.getInterfaces());
      bases.add(above);
      for (TypeMirror each : bases) {
        if (each instanceof DeclaredType declared && declared.asElement() instanceof TypeElement base
            && (base.equals(element.getEnclosingElement()) || isMember(base, element))) {
          return true;
        }
      }
      return false;
    }
  }
}
