import com.sun.tools.javac.code.Flags;
import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.code.Symbol.ClassSymbol;
import com.sun.tools.javac.code.Symbol.MethodSymbol;
import com.sun.tools.javac.code.Symbol.VarSymbol;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.JCTree.JCClassDecl;
import com.sun.tools.javac.tree.JCTree.JCCompilationUnit;
import com.sun.tools.javac.tree.JCTree.JCFieldAccess;
import com.sun.tools.javac.tree.JCTree.JCIdent;
import com.sun.tools.javac.tree.JCTree.JCImport;
import com.sun.tools.javac.tree.JCTree.JCMemberReference;
import com.sun.tools.javac.tree.JCTree.JCMethodDecl;
import com.sun.tools.javac.tree.JCTree.JCNewClass;
import com.sun.tools.javac.tree.JCTree.JCVariableDecl;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeScanner;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Types and fields that are written in the tree, and the lines that name them or a method; imports name nothing here. */
final class Uses {
  private final Definitions definitions;
  private final Map<Symbol, String> places = new HashMap<>();
  private final Set<String> taken = new HashSet<>();
  private final Map<String, Json> all = new LinkedHashMap<>();

  Uses(Definitions definitions) {
    this.definitions = definitions;
  }

  Collection<Json> all() {
    return all.values();
  }

  void define(JCCompilationUnit unit) {
    new Namer(unit).scan(unit);
  }

  /** After all units are defined. */
  void read(JCCompilationUnit unit) {
    try {
      new Reader(unit, unit.getSourceFile().getCharContent(true).toString()).scan(unit);
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  private void put(Json fact) {
    all.putIfAbsent(fact.toString(), fact);
  }

  private final class Namer extends TreeScanner {
    private final JCCompilationUnit unit;
    private final Deque<String> around = new ArrayDeque<>();

    Namer(JCCompilationUnit unit) {
      this.unit = unit;
    }

    @Override
    public void visitClassDef(JCClassDecl tree) {
      if (tree.sym == null) return;
      boolean isNamed = !tree.name.isEmpty();
      if (isNamed) {
        define(tree.sym, tree.name.toString(), "type", tree);
        around.push(tree.name.toString());
      }
      super.visitClassDef(tree);
      if (isNamed) around.pop();
    }

    @Override
    public void visitMethodDef(JCMethodDecl tree) {
      around.push(tree.name.toString());
      super.visitMethodDef(tree);
      around.pop();
    }

    @Override
    public void visitVarDef(JCVariableDecl tree) {
      if (tree.sym != null && tree.sym.owner instanceof ClassSymbol type && !isGenerated(tree, type)) {
        long constant = Flags.STATIC | Flags.FINAL;
        boolean isConstant = (tree.sym.flags() & constant) == constant;
        define(tree.sym, tree.name.toString(), isConstant ? "constant" : "variable", tree);
      }
      super.visitVarDef(tree);
    }

    /** A part of a record is a field, too. */
    private boolean isGenerated(JCVariableDecl tree, ClassSymbol type) {
      return (tree.mods.flags & (Flags.GENERATED_MEMBER | Flags.RECORD)) != 0 || type.name.isEmpty();
    }

    private void define(Symbol symbol, String name, String kind, JCTree tree) {
      String file = definitions.pathOf(unit);
      int line = (int) unit.getLineMap().getLineNumber(TreeInfo.diagnosticPositionFor(symbol, tree).getStartPosition());
      String place = file + ":" + line;
      // Two on a line cannot be told apart.
      if (!taken.add(place)) return;
      places.put(symbol, place);
      Json named = new Json().put("is", "named").put("name", name).put("kind", kind);
      if (!around.isEmpty()) named.put("container", around.peek());
      int start = (int) unit.getLineMap().getLineNumber(TreeInfo.getStartPos(tree));
      put(named.put("file", file).put("line", line).put("start", start).put("test", Definitions.isTest(file)));
    }
  }

  private static final String space = "(?:\\s|/\\*.*?\\*/|//[^\n]*)*";
  private static final Pattern behindDot =
      Pattern.compile("\\." + space + "(?:<[^;()]*>|@\\w+)?" + space, Pattern.DOTALL);

  private final class Reader extends TreeScanner {
    private final JCCompilationUnit unit;
    private final String text;

    Reader(JCCompilationUnit unit, String text) {
      this.unit = unit;
      this.text = text;
    }

    @Override
    public void visitImport(JCImport tree) {}

    @Override
    public void visitMethodDef(JCMethodDecl tree) {
      if (!Definitions.isGenerated(tree)) super.visitMethodDef(tree);
    }

    @Override
    public void visitIdent(JCIdent tree) {
      String name = tree.name.toString();
      use(tree.sym, name, tree.pos);
      // `this(…)`, `super(…)`
      if (tree.sym instanceof MethodSymbol method && method.isConstructor() && text.startsWith(name, tree.pos))
        put(method.owner, tree.pos);
    }

    /** A constant of an enumeration that calls a constructor. */
    @Override
    public void visitVarDef(JCVariableDecl tree) {
      boolean isConstant = tree.sym != null && (tree.sym.flags() & Flags.ENUM) != 0;
      if (!isConstant) super.visitVarDef(tree);
      else if (tree.init instanceof JCNewClass made) {
        if (made.constructor != null && definitions.placeOf(made.constructor) != null)
          put(tree.sym.owner, tree.pos);
        scan(made.args);
        if (made.def != null) scan(made.def.defs);
      }
    }

    private void put(Symbol type, int at) {
      String target = placeOf(type);
      if (target != null) put(null, at, target);
    }

    private void put(String unknown, int at, String target) {
      Uses.this.put(
          new Json()
              .put("is", "use")
              .put("name", unknown)
              .put("file", definitions.pathOf(unit))
              .put("line", (int) unit.getLineMap().getLineNumber(at))
              .put("target", target));
    }

    @Override
    public void visitSelect(JCFieldAccess tree) {
      super.visitSelect(tree);
      // The compiler writes types itself, where there are none.
      if (tree.pos < 0) return;
      Matcher dot = behindDot.matcher(text).region(tree.pos, text.length());
      if (dot.lookingAt()) use(tree.sym, tree.name.toString(), dot.end());
    }

    @Override
    public void visitReference(JCMemberReference tree) {
      super.visitReference(tree);
      if (!tree.name.contentEquals("<init>"))
        use(tree.sym, tree.name.toString(), text.indexOf(tree.name.toString(), tree.pos));
    }

    @Override
    public void visitNewClass(JCNewClass tree) {
      // The compiler gives an anonymous class a header of its own.
      if (tree.def == null) super.visitNewClass(tree);
      else {
        scan(tree.encl);
        scan(tree.clazz);
        scan(tree.args);
        scan(tree.def.defs);
      }
    }

    private void use(Symbol symbol, String name, int at) {
      if (!text.startsWith(name, at)) return;
      String target = symbol == null ? null : placeOf(symbol);
      boolean isUnknown = target == null && isUnknown(symbol);
      if (target == null && !isUnknown) return;
      put(isUnknown ? name : null, at, target);
    }

    private boolean isUnknown(Symbol symbol) {
      if (symbol == null || symbol.type == null || symbol.type.isErroneous()) return true;
      return definitions.isDoubled(symbol);
    }

    private String placeOf(Symbol symbol) {
      if (definitions.isDoubled(symbol)) return null;
      if (symbol instanceof MethodSymbol) return definitions.placeOf(symbol);
      return symbol instanceof VarSymbol || symbol instanceof ClassSymbol ? places.get(Definitions.written(symbol)) : null;
    }
  }
}
