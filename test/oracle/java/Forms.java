import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.JCTree.JCBindingPattern;
import com.sun.tools.javac.tree.JCTree.JCCatch;
import com.sun.tools.javac.tree.JCTree.JCEnhancedForLoop;
import com.sun.tools.javac.tree.JCTree.JCFieldAccess;
import com.sun.tools.javac.tree.JCTree.JCIdent;
import com.sun.tools.javac.tree.JCTree.JCLambda;
import com.sun.tools.javac.tree.JCTree.JCTry;
import com.sun.tools.javac.tree.JCTree.JCVariableDecl;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeScanner;
import java.util.HashMap;
import java.util.Map;
import javax.lang.model.element.ElementKind;

/** What a receiver is, by where its variable was declared: causes of what is missed are told apart by it. */
final class Forms extends TreeScanner {
  private final Map<Symbol, String> declared = new HashMap<>();

  @Override
  public void visitLambda(JCLambda tree) {
    for (JCVariableDecl each : tree.params)
      declared.put(each.sym, each.declaredUsingVar() || each.isImplicitlyTyped() || tree.paramKind == JCLambda.ParameterKind.IMPLICIT ? "lambda parameter, no type" : "lambda parameter");
    super.visitLambda(tree);
  }

  @Override
  public void visitForeachLoop(JCEnhancedForLoop tree) {
    declared.put(tree.var.sym, tree.var.declaredUsingVar() ? "of a loop, var" : "of a loop");
    super.visitForeachLoop(tree);
  }

  @Override
  public void visitTry(JCTry tree) {
    for (JCTree each : tree.resources)
      if (each instanceof JCVariableDecl variable) declared.put(variable.sym, "resource");
    super.visitTry(tree);
  }

  @Override
  public void visitCatch(JCCatch tree) {
    declared.put(tree.param.sym, "caught");
    super.visitCatch(tree);
  }

  @Override
  public void visitBindingPattern(JCBindingPattern tree) {
    declared.put(tree.var.sym, "pattern");
    super.visitBindingPattern(tree);
  }

  @Override
  public void visitVarDef(JCVariableDecl tree) {
    if (tree.sym != null)
      declared.putIfAbsent(tree.sym, tree.declaredUsingVar() ? "local, var" : "local, declared");
    super.visitVarDef(tree);
  }

  String of(JCTree receiver) {
    JCTree tree = TreeInfo.skipParens(receiver);
    switch (tree.getTag()) {
      case APPLY:
        return "chained call";
      case NEWCLASS:
        return "new";
      case INDEXED:
        return "element";
      case TYPECAST:
        return "cast";
      case LITERAL:
        return "literal";
      case IDENT:
        return ofName((JCIdent) tree);
      case SELECT:
        return ofMember((JCFieldAccess) tree);
      default:
        return "other";
    }
  }

  private String ofName(JCIdent name) {
    if (name.name.contentEquals("this")) return "own receiver";
    if (name.name.contentEquals("super")) return "super";
    if (name.sym == null) return "other";
    ElementKind kind = name.sym.getKind();
    if (kind.isClass() || kind.isInterface()) return "type";
    if (kind == ElementKind.PARAMETER) return declared.getOrDefault(name.sym, "parameter").replace("local, declared", "parameter");
    return kind.isField() ? "field" : declared.getOrDefault(name.sym, "other");
  }

  private static String ofMember(JCFieldAccess member) {
    if (member.name.contentEquals("this")) return "outer receiver";
    if (member.name.contentEquals("super")) return "super";
    if (member.sym == null) return "other";
    ElementKind kind = member.sym.getKind();
    return kind.isClass() || kind.isInterface() ? "type" : "field";
  }
}
