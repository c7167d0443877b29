package tla2sany.drivers;

import java.io.PrintStream;
import java.util.List;
import tla2sany.configuration.Configuration;
import tla2sany.modanalyzer.SpecObj;
import tla2sany.parser.TLAplusParser;
import tla2sany.semantic.AbortException;
import tla2sany.semantic.BuiltInLevel;
import tla2sany.semantic.Context;
import tla2sany.semantic.Errors;
import tla2sany.semantic.ExternalModuleTable;
import tla2sany.semantic.Generator;
import tla2sany.semantic.ModuleNode;
import tla2sany.semantic.OpDeclNode;
import tla2sany.semantic.OpDefNode;
import tla2sany.semantic.SemanticNode;
import tla2sany.st.TreeNode;
import util.FileUtil;
import util.FilenameToStream;
import util.NamedInputStream;
import util.ToolIO;
import util.UniqueString;

/**
 * The parser of TLA+, in the place of its own class of this name: modules that a former run had are not parsed again.
 *
 * <p>The runs of a protocol differ in their root module and their configuration. To parse the modules that the root
 * names was half of the time of a small model. What TLC changes in a parsed module is the values of constants and of
 * definitions, which {@link #clear} takes out. Where the parser has anything to say, all is parsed anew, and it says
 * what it says as ever.
 */
public final class SANY {
  /** The modules that the root module names, and all that these name; null where they are not known. */
  public static SpecObj known;

  private static final PrintStream UNREAD = new PrintStream(PrintStream.nullOutputStream());

  private SANY() {}

  /** Parse a specification. */
  public static int frontEndMain(SpecObj spec, String root, PrintStream out) throws FrontEndException {
    try {
      return (known != null && isParsed(spec, root)) || isParsedAnew(spec, out) ? 0 : -1;
    } catch (Exception unexpected) {
      out.println(unexpected);
      throw new FrontEndException(unexpected);
    }
  }

  /** Parse modules, and all that they name; null where the parser has anything to say. */
  public static SpecObj parse(List<String> modules, FilenameToStream resolver) {
    SpecObj spec = new SpecObj(modules.get(0), resolver);
    PrintStream out = ToolIO.out;
    ToolIO.out = UNREAD;
    ToolIO.err = UNREAD;
    try {
      for (String module : modules) {
        spec.loadSpec(module, spec.parseErrors, true);
      }
      return spec.parseErrors.isSuccess() && isAnalyzed(spec, UNREAD) && saysNothing(spec) ? spec : null;
    } catch (Exception anything) {
      return null;
    } finally {
      ToolIO.out = out;
      ToolIO.err = out;
    }
  }

  /** Take out of modules what a run of TLC has put into them. */
  public static void clear(ModuleNode[] modules, int tool) {
    for (ModuleNode module : modules) {
      for (OpDeclNode constant : module.getConstantDecls()) {
        constant.setToolObject(tool, null);
      }
      for (OpDefNode definition : module.getOpDefs()) {
        definition.setToolObject(tool, null);
        definition.getBody().setToolObject(tool, null);
      }
      clear(module.getInnerModules(), tool);
    }
  }

  private static boolean isParsed(SpecObj spec, String root) {
    PrintStream out = ToolIO.out;
    ToolIO.out = UNREAD;
    try (NamedInputStream input = FileUtil.createNamedInputStream(root, spec.getResolver())) {
      TLAplusParser parser = new TLAplusParser(input);
      ExternalModuleTable before = known.getExternalModuleTable();
      for (ModuleNode module : before.getModuleNodes()) {
        spec.getExternalModuleTable().put(module.getName(), before.getContext(module.getName()), module);
      }
      return parser.parse()
          && parser.rootNode().heirs()[0].heirs()[1].getImage().equals(root)
          && isAnalyzed(spec, root, parser.rootNode(), UNREAD)
          && saysNothing(spec);
    } catch (Exception anything) {
      return false;
    } finally {
      ToolIO.out = out;
    }
  }

  private static boolean isParsedAnew(SpecObj spec, PrintStream out) throws AbortException {
    spec.semanticErrors = new Errors();
    spec.getExternalModuleTable().moduleHashTable.clear();
    spec.getExternalModuleTable().moduleNodeVector.removeAllElements();
    Configuration.ReInit();
    Context.reInit();
    Configuration.load(spec.initErrors);
    BuiltInLevel.load();
    try {
      spec.loadSpec(spec.getFileName(), spec.parseErrors, true);
    } catch (Exception failed) {
      out.println("\nFatal errors while parsing TLA+ spec in file " + spec.getFileName() + "\n");
      out.println(failed);
    }
    if (!spec.parseErrors.isSuccess()) {
      out.print(spec.parseErrors);
      return false;
    }
    return isAnalyzed(spec, out);
  }

  private static boolean isAnalyzed(SpecObj spec, PrintStream out) {
    for (int each = 0; each < spec.semanticAnalysisVector.size(); each++) {
      String name = (String) spec.semanticAnalysisVector.elementAt(each);
      boolean isKnown = spec.getExternalModuleTable().getContext(UniqueString.uniqueStringOf(name)) != null;
      TreeNode tree = spec.parseUnitContext.get(name).getParseTree();
      if (!isKnown && !isAnalyzed(spec, name, tree, out)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isAnalyzed(SpecObj spec, String name, TreeNode tree, PrintStream out) {
    SemanticNode.setError(spec.semanticErrors);
    out.println("Semantic processing of module " + name);
    ExternalModuleTable table = spec.getExternalModuleTable();
    Generator generator = new Generator(table, spec.semanticErrors);
    try {
      ModuleNode module = generator.generate(tree);
      module.setStandard(spec.getResolver().isStandardModule(name));
      table.put(UniqueString.uniqueStringOf(name), generator.getSymbolTable().getExternalContext(), module);
      if (spec.semanticErrors.isSuccess()) {
        module.levelCheck(1);
      }
      table.setRootModule(module);
    } catch (AbortException aborted) { // its reason is among the errors
      out.println("Fatal errors in semantic processing of TLA spec " + spec.getFileName());
    }
    if (spec.semanticErrors.getNumMessages() > 0) {
      out.println("Semantic errors:\n\n" + spec.semanticErrors);
    }
    return spec.semanticErrors.isSuccess();
  }

  /** No warning either. */
  private static boolean saysNothing(SpecObj spec) {
    return spec.semanticErrors.getNumMessages() == 0;
  }
}
