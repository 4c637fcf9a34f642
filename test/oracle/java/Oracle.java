import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.tools.javac.api.BasicJavacTask;
import com.sun.tools.javac.code.Types;
import com.sun.tools.javac.tree.JCTree.JCCompilationUnit;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Prints definitions, call sites and implementations of a tree, one JSON object a line. Libraries may be missing. */
public final class Oracle {
  private Oracle() {}

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]).toRealPath();
    var compiler = ToolProvider.getSystemJavaCompiler();
    var problems = new DiagnosticCollector<JavaFileObject>();
    StandardJavaFileManager files =
        compiler.getStandardFileManager(problems, Locale.ROOT, StandardCharsets.UTF_8);
    List<String> options =
        List.of("-proc:none", "-XDshould-stop.ifError=ATTR", "-Xmaxerrs", "0", "-nowarn");
    var task =
        (BasicJavacTask)
            compiler.getTask(
                null, files, problems, options, null, files.getJavaFileObjectsFromPaths(sources(root)));
    List<JCCompilationUnit> units = new ArrayList<>();
    for (CompilationUnitTree each : task.parse()) units.add((JCCompilationUnit) each);
    Set<String> damaged = damaged(problems);
    units.removeIf(each -> damaged.contains(each.getSourceFile().toUri().toString()));
    int parsed = problems.getDiagnostics().size();
    ((JavacTask) task).analyze();

    var definitions = new Definitions(root, Types.instance(task.getContext()));
    units.removeIf(definitions::noteDoubled);
    for (JCCompilationUnit each : units) definitions.read(each);
    definitions.implement();
    var sites = new Sites(definitions);
    for (JCCompilationUnit each : units) sites.read(each);
    var uses = new Uses(definitions);
    for (JCCompilationUnit each : units) uses.define(each);
    for (JCCompilationUnit each : units) uses.read(each);

    try (var out =
        new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8)) {
      for (JCCompilationUnit each : units)
        out.println(new Json().put("is", "file").put("path", definitions.pathOf(each)));
      for (Json each : definitions.all()) out.println(each);
      for (Json each : sites.all()) out.println(each);
      for (Json each : definitions.implementations()) out.println(each);
      for (Json each : uses.all()) out.println(each);
      int errors = problems.getDiagnostics().size() - parsed;
      out.println(
          new Json()
              .put("is", "summary")
              .put("packages", 1)
              .put("missing", missing(problems))
              .put("errors", errors)
              .put("unresolved", sites.unresolved()));
    }
    System.exit(0);
  }

  /** Descriptions of modules and packages exclude each other in a tree of several projects. */
  private static List<Path> sources(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes its) {
            String name = folder.getFileName().toString();
            boolean isHidden = name.startsWith(".") && !folder.equals(root);
            return isHidden ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes its) {
            String name = file.getFileName().toString();
            if (name.endsWith(".java") && !name.matches("(module|package)-info\\.java"))
              found.add(file);
            return FileVisitResult.CONTINUE;
          }
        });
    // Of two classes of one name the one of the product counts.
    found.sort(
        (one, other) -> {
          boolean isTest = Definitions.isTest(one.toString());
          if (isTest != Definitions.isTest(other.toString())) return isTest ? 1 : -1;
          return one.compareTo(other);
        });
    return found;
  }

  private static Set<String> damaged(DiagnosticCollector<JavaFileObject> problems) {
    Set<String> found = new HashSet<>();
    for (var each : problems.getDiagnostics())
      if (each.getKind() == Diagnostic.Kind.ERROR && each.getSource() != null)
        found.add(each.getSource().toUri().toString());
    return found;
  }

  /** Packages of libraries that are not there. */
  private static int missing(DiagnosticCollector<JavaFileObject> problems) {
    Set<String> found = new HashSet<>();
    for (var each : problems.getDiagnostics())
      if (each.getCode().equals("compiler.err.doesnt.exist"))
        found.add(each.getMessage(Locale.ROOT));
    return found.size();
  }
}
