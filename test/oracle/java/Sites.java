import com.sun.source.tree.Tree;
import com.sun.tools.javac.code.Flags;
import com.sun.tools.javac.code.Kinds;
import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.code.Symbol.MethodSymbol;
import com.sun.tools.javac.code.Type;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.JCTree.JCClassDecl;
import com.sun.tools.javac.tree.JCTree.JCCompilationUnit;
import com.sun.tools.javac.tree.JCTree.JCExpression;
import com.sun.tools.javac.tree.JCTree.JCExpressionStatement;
import com.sun.tools.javac.tree.JCTree.JCFieldAccess;
import com.sun.tools.javac.tree.JCTree.JCIdent;
import com.sun.tools.javac.tree.JCTree.JCLambda;
import com.sun.tools.javac.tree.JCTree.JCMemberReference;
import com.sun.tools.javac.tree.JCTree.JCMethodDecl;
import com.sun.tools.javac.tree.JCTree.JCMethodInvocation;
import com.sun.tools.javac.tree.JCTree.JCNewClass;
import com.sun.tools.javac.tree.JCTree.JCVariableDecl;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeScanner;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Calls, constructions and references to methods. */
final class Sites {
  private final Definitions definitions;
  private final List<Json> all = new ArrayList<>();
  private int unresolved;

  Sites(Definitions definitions) {
    this.definitions = definitions;
  }

  List<Json> all() {
    return all;
  }

  int unresolved() {
    return unresolved;
  }

  void read(JCCompilationUnit unit) {
    try {
      new Reader(unit, unit.getSourceFile().getCharContent(true).toString()).scan(unit);
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  private final class Reader extends TreeScanner {
    private final JCCompilationUnit unit;
    private final String text;
    private final Forms forms = new Forms();
    private String holder = "";
    private boolean isClosure;
    private final Deque<String> types = new ArrayDeque<>();

    Reader(JCCompilationUnit unit, String text) {
      this.unit = unit;
      this.text = text;
      forms.scan(unit);
    }

    @Override
    public void visitClassDef(JCClassDecl tree) {
      types.push(tree.name.toString());
      super.visitClassDef(tree);
      types.pop();
    }

    @Override
    public void visitMethodDef(JCMethodDecl tree) {
      if (Definitions.isGenerated(tree)) return;
      String outer = holder;
      boolean wasClosure = isClosure;
      String own = tree.sym == null ? null : definitions.placeOf(tree.sym);
      if (own != null) holder = own;
      isClosure = false;
      super.visitMethodDef(tree);
      holder = outer;
      isClosure = wasClosure;
    }

    @Override
    public void visitLambda(JCLambda tree) {
      boolean wasClosure = isClosure;
      isClosure = true;
      super.visitLambda(tree);
      isClosure = wasClosure;
    }

    @Override
    public void visitApply(JCMethodInvocation tree) {
      JCExpression callee = TreeInfo.skipParens(tree.meth);
      Symbol symbol = TreeInfo.symbol(callee);
      if (callee instanceof JCFieldAccess member) {
        int at = TreeInfo.endPos(member.selected);
        add(nameAt(member, at), tree, member.name.toString(), symbol, forms.of(member.selected));
      } else if (callee instanceof JCIdent name) {
        // The compiler adds a missing `super()`.
        if (text.startsWith(name.name.toString(), name.pos))
          add(name.pos, tree, name.name.toString(), symbol, "plain");
      }
      super.visitApply(tree);
    }

    @Override
    public void visitNewClass(JCNewClass tree) {
      JCTree type = TreeInfo.skipParens(tree.clazz);
      Symbol constructor = tree.def == null ? tree.constructor : baseConstructor(tree.def);
      String name = nameOf(type);
      if (name != null) add(placeOf(type), tree, name, constructor, "new");
      super.visitNewClass(tree);
    }

    /** The constructor that the one of an anonymous class calls. */
    private Symbol baseConstructor(JCClassDecl type) {
      for (JCTree each : type.defs)
        if (each instanceof JCMethodDecl method
            && TreeInfo.isConstructor(method)
            && method.body != null
            && method.body.stats.head instanceof JCExpressionStatement first
            && first.expr instanceof JCMethodInvocation call) return TreeInfo.symbol(call.meth);
      return null;
    }

    private String nameOf(JCTree type) {
      if (type instanceof JCTree.JCTypeApply generic) return nameOf(generic.clazz);
      if (type instanceof JCTree.JCAnnotatedType annotated) return nameOf(annotated.underlyingType);
      Symbol symbol = TreeInfo.symbol(type);
      if (type instanceof JCFieldAccess member) return member.name.toString();
      if (type instanceof JCIdent name) return name.name.toString();
      return symbol == null ? null : symbol.name.toString();
    }

    private int placeOf(JCTree type) {
      if (type instanceof JCTree.JCTypeApply generic) return placeOf(generic.clazz);
      if (type instanceof JCTree.JCAnnotatedType annotated) return placeOf(annotated.underlyingType);
      return type instanceof JCFieldAccess member ? nameAt(member, TreeInfo.endPos(member.selected)) : type.pos;
    }

    @Override
    public void visitReference(JCMemberReference tree) {
      String name = tree.getMode() == com.sun.source.tree.MemberReferenceTree.ReferenceMode.NEW
          ? nameOf(tree.expr)
          : tree.name.toString();
      Symbol symbol = tree.sym;
      boolean isKnown = symbol != null && symbol.kind == Kinds.Kind.MTH;
      String target = isKnown ? definitions.placeOf(symbol) : null;
      if (name != null && target != null && !definitions.isDoubled(symbol))
        put(tree.pos, tree, name, forms.of(tree.expr), passedOn((MethodSymbol) symbol, target));
      else if ((!isKnown || target != null) && name != null && definitions.names.contains(name))
        put(tree.pos, tree, name, forms.of(tree.expr), new Json().put("kind", "unknown"));
      super.visitReference(tree);
    }

    /** Who gets the reference may call what runs in place of the method. */
    private Json passedOn(MethodSymbol method, String target) {
      Json meaning = new Json().put("kind", "value").put("target", target);
      boolean isFixed = method.isConstructor() || method.isStatic();
      return isFixed ? meaning : meaning.put("interface", definitions.nameOf(method));
    }

    /** Of the name behind the dot. */
    private int nameAt(JCFieldAccess member, int from) {
      int at = text.indexOf(member.name.toString(), Math.max(member.pos, from));
      return at < 0 ? member.pos : at;
    }

    private void add(int at, JCTree tree, String name, Symbol symbol, String form) {
      Json meaning = meaning(symbol, tree);
      if (meaning.get("kind").equals("unknown")) unresolved++;
      if (meaning.get("target") == null && meaning.get("kind").equals("unknown")) name = constructed(name);
      if (meaning.get("target") == null && !definitions.names.contains(name)) return;
      put(at, tree, name, form, meaning);
    }

    private void put(int at, JCTree tree, String name, String form, Json meaning) {
      all.add(
          new Json()
              .put("is", "site")
              .put("file", definitions.pathOf(unit))
              .put("line", lineAt(at))
              .put("start", lineAt(TreeInfo.getStartPos(tree)))
              .put("holder", holder)
              .put("name", name)
              .put("kind", meaning.get("kind"))
              .put("target", meaning.get("target"))
              .put("interface", meaning.get("interface"))
              .put("form", form)
              .put("closure", isClosure ? true : null));
    }

    /** A constructor has the name of its class, whichever of them is meant. */
    private String constructed(String name) {
      return types.isEmpty() || !name.equals("this") ? name : types.peek();
    }

    private int lineAt(int position) {
      return (int) unit.getLineMap().getLineNumber(position);
    }

    private Json meaning(Symbol symbol, JCTree tree) {
      if (!(symbol instanceof MethodSymbol method) || symbol.kind != Kinds.Kind.MTH)
        return new Json().put("kind", "unknown");
      if (definitions.isDoubled(method) || isUndecided(method, tree))
        return new Json().put("kind", "unknown");
      String target = definitions.placeOf(method);
      boolean isFixed = method.isConstructor() || method.isStatic() || isOfSuper(tree);
      boolean isAbstract = (method.flags() & Flags.ABSTRACT) != 0;
      if (!isFixed && (isAbstract || definitions.isReplaced(method)))
        return new Json()
            .put("kind", "interface")
            .put("target", target)
            .put("interface", definitions.nameOf(method));
      return new Json().put("kind", target == null ? "outside" : "static").put("target", target);
    }

    /** What is missing fits everything: as an argument every parameter, as a parameter every argument. */
    private boolean isUndecided(MethodSymbol method, JCTree tree) {
      var given = argumentsOf(tree);
      List<MethodSymbol> fitting = definitions.callable(method, given.size());
      if (fitting.size() < 2) return false;
      for (MethodSymbol each : fitting)
        for (Type parameter : each.type.getParameterTypes()) if (parameter.isErroneous()) return true;
      for (JCExpression each : given)
        if (each.type == null || each.type.isErroneous()) return true;
      return false;
    }

    private static List<JCExpression> argumentsOf(JCTree tree) {
      return tree instanceof JCMethodInvocation call
          ? call.args
          : tree instanceof JCNewClass made ? made.args : List.of();
    }

    private boolean isOfSuper(JCTree tree) {
      return tree instanceof JCMethodInvocation call
          && call.meth instanceof JCFieldAccess member
          && TreeInfo.name(member.selected) != null
          && TreeInfo.name(member.selected).contentEquals("super");
    }
  }
}
