import com.sun.tools.javac.code.Flags;
import com.sun.tools.javac.code.Kinds;
import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.code.Symbol.ClassSymbol;
import com.sun.tools.javac.code.Symbol.MethodSymbol;
import com.sun.tools.javac.code.Type;
import com.sun.tools.javac.code.Types;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.JCTree.JCClassDecl;
import com.sun.tools.javac.tree.JCTree.JCCompilationUnit;
import com.sun.tools.javac.tree.JCTree.JCMethodDecl;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeScanner;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Methods and constructors that are written in the tree, and which of them run in place of which. */
final class Definitions {
  private final Path root;
  private final Types types;
  private final Map<Symbol, String> places = new HashMap<>();
  private final Map<String, Json> byPlace = new LinkedHashMap<>();
  private final List<ClassSymbol> classes = new ArrayList<>();
  private final Map<String, Json> implementations = new LinkedHashMap<>();
  /** Methods that others replace, as `nameOf` writes them. */
  private final Set<String> replaced = new HashSet<>();
  /** Top-level classes that several files define. */
  private final Set<String> doubled = new HashSet<>();
  final Set<String> names = new HashSet<>();

  Definitions(Path root, Types types) {
    this.root = root;
    this.types = types;
  }

  static boolean isTest(String path) {
    return path.matches("(.*/)?(test|tests|testFixtures|[a-zA-Z]+Test)/.*")
        || path.matches(".*(Test|Tests|TestCase)\\.java");
  }

  Collection<Json> all() {
    return byPlace.values();
  }

  Collection<Json> implementations() {
    return implementations.values();
  }

  String pathOf(JCCompilationUnit unit) {
    return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
  }

  /** `path:line`; null: of a library, or written by the compiler. */
  String placeOf(Symbol method) {
    return places.get(written(method));
  }

  /** What is imported through a class that inherits it is a copy to the compiler. */
  static Symbol written(Symbol symbol) {
    return symbol == null ? null : symbol.baseSymbol();
  }

  boolean isReplaced(MethodSymbol method) {
    return replaced.contains(nameOf(method));
  }

  /** Two projects of the tree have a class of this name, and the compiler knows one of them. */
  boolean isDoubled(Symbol symbol) {
    // Methods of arrays and of what is missing are in no class.
    ClassSymbol type = null;
    for (Symbol each = written(symbol); each != null && each.kind != Kinds.Kind.PCK; each = each.owner)
      if (each instanceof ClassSymbol found) type = found;
    return type != null && doubled.contains(type.flatname.toString());
  }

  /** Whether a class of a file is known from another one: then its calls are not read. */
  boolean noteDoubled(JCCompilationUnit unit) {
    boolean isFound = false;
    for (JCTree each : unit.defs)
      if (each instanceof JCClassDecl type && type.sym != null && type.sym.type.isErroneous()) {
        String scope = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
        doubled.add(scope + type.name);
        isFound = true;
      }
    return isFound;
  }

  /** Methods of this name that take so many arguments, of its class and of what that is based on. */
  List<MethodSymbol> callable(MethodSymbol method, int count) {
    List<MethodSymbol> found = new ArrayList<>();
    for (Type each : method.isConstructor() ? List.of(method.owner.type) : types.closure(method.owner.type))
      for (Symbol member : each.tsym.members().getSymbolsByName(method.name))
        if (member instanceof MethodSymbol other
            && takes(other, count)
            && found.stream().noneMatch(it -> isAlike(it, other)))
          found.add(other);
    return found;
  }

  /** To the compiler everything is alike what is missing. */
  private boolean isAlike(MethodSymbol one, MethodSymbol other) {
    List<Type> parameters = one.type.getParameterTypes();
    if (parameters.toString().equals(other.type.getParameterTypes().toString())) return true;
    boolean isWhole = !Type.isErroneous(one.type.getParameterTypes()) && !Type.isErroneous(other.type.getParameterTypes());
    return isWhole && types.overrideEquivalent(one.type, other.type);
  }

  private static boolean takes(MethodSymbol method, int count) {
    int wanted = method.type.getParameterTypes().size();
    return method.isVarArgs() ? count >= wanted - 1 : count == wanted;
  }

  /** By which an implementation is asked for: its place, else its name in a library. */
  String nameOf(MethodSymbol method) {
    String place = placeOf(method);
    if (place != null) return place;
    return method.owner.getQualifiedName() + "#" + method + types.erasure(method.type);
  }

  void read(JCCompilationUnit unit) {
    new Reader(unit).scan(unit);
  }

  /** Which method runs where another one is named: for each class, of all that it is based on. */
  void implement() {
    for (ClassSymbol type : classes)
      for (Type each : types.closure(type.type)) {
        if (!(each.tsym instanceof ClassSymbol base) || base == type) continue;
        for (Symbol member : base.members().getSymbols())
          if (member instanceof MethodSymbol method && isOpen(method)) implement(type, method);
      }
  }

  private void implement(ClassSymbol type, MethodSymbol method) {
    MethodSymbol found;
    try {
      found = method.implementation(type, types, true);
    } catch (RuntimeException damaged) {
      return;
    }
    if (found == null || found == method || placeOf(found) == null) return;
    if ((found.flags() & Flags.ABSTRACT) != 0) return;
    // What a base has itself runs in place of what an interface asks for, never of what is above it.
    if (found.owner != type && !method.owner.isInterface()) return;
    String name = nameOf(method);
    replaced.add(name);
    implementations.putIfAbsent(
        name + " " + placeOf(found),
        new Json()
            .put("is", "implementation")
            .put("interface", name)
            .put("method", method.name.toString())
            .put("target", placeOf(found)));
  }

  private static boolean isOpen(MethodSymbol method) {
    long closed = Flags.STATIC | Flags.PRIVATE;
    return !method.isConstructor() && (method.flags() & closed) == 0;
  }

  /** As the product calls it: the class; what an anonymous class has belongs to what is around it. */
  private final class Reader extends TreeScanner {
    private final JCCompilationUnit unit;
    private final Deque<String> around = new ArrayDeque<>();

    Reader(JCCompilationUnit unit) {
      this.unit = unit;
    }

    @Override
    public void visitClassDef(JCClassDecl tree) {
      if (tree.sym == null) return;
      classes.add(tree.sym);
      boolean isNamed = !tree.name.isEmpty();
      if (isNamed) around.push(tree.name.toString());
      super.visitClassDef(tree);
      if (isNamed) around.pop();
    }

    @Override
    public void visitMethodDef(JCMethodDecl tree) {
      if (tree.sym == null || isGenerated(tree)) return;
      String name = tree.sym.isConstructor() ? around.peek() : tree.name.toString();
      define(tree, name);
      around.push(name);
      super.visitMethodDef(tree);
      around.pop();
    }

    private void define(JCMethodDecl tree, String name) {
      boolean isAbstract = tree.body == null;
      boolean isStatic = (tree.sym.flags() & Flags.STATIC) != 0;
      int line = lineOf(tree);
      String file = pathOf(unit);
      String place = file + ":" + line;
      // Two on a line cannot be told apart.
      if (byPlace.containsKey(place)) return;
      names.add(name);
      places.put(tree.sym, place);
      byPlace.put(
          place,
          new Json()
              .put("is", "definition")
              .put("name", name)
              .put("container", around.isEmpty() ? "" : around.peek())
              .put("kind", isAbstract ? "interface" : isStatic ? "function" : "method")
              .put("file", file)
              .put("line", line)
              .put("exported", (tree.sym.flags() & Flags.PUBLIC) != 0)
              .put("test", isTest(file)));
    }

    private int lineOf(JCTree tree) {
      return (int) unit.getLineMap().getLineNumber(TreeInfo.getStartPos(tree));
    }
  }

  /** Constructors and accessors that are not written. */
  static boolean isGenerated(JCMethodDecl tree) {
    long generated = Flags.GENERATEDCONSTR | Flags.GENERATED_MEMBER;
    boolean isCompact = (tree.mods.flags & Flags.COMPACT_RECORD_CONSTRUCTOR) != 0;
    return (tree.mods.flags & generated) != 0 && !isCompact;
  }
}
