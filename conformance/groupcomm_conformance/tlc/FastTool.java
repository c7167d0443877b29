package tlc2.tool.impl;

import tla2sany.semantic.LevelNode;
import tla2sany.semantic.OpApplNode;
import tla2sany.semantic.SemanticNode;
import tlc2.tool.Action;
import tlc2.tool.IActionItemList;
import tlc2.tool.INextStateFunctor;
import tlc2.tool.TLCState;
import tlc2.tool.coverage.CostModel;
import tlc2.util.Context;
import tlc2.value.impl.Value;
import util.FilenameToStream;

/**
 * The evaluator of TLC, in the place of its own class of this name. Like that class it forwards to {@link Tool}, but
 * for one question, to which the parser already has the answer.
 *
 * <p>Before it searches, TLC asks of each definition without parameters, in each module that has it, whether it is
 * constant: its value is then computed once. For that it walks through all that the definition uses, as often as it is
 * used: two thirds of the time of a small model. The parser has found the level of each expression, from those of its
 * parts, once. Where it says that something is no constant, that is the answer: at worst a value is computed more than
 * once. (A model may put another definition in the place of a constant one, which the parser does not know. So what it
 * takes for constant is looked through as ever.)
 */
public final class FastTool extends Tool {
  private static final long serialVersionUID = 1L;

  public FastTool(String root, String config) {
    super(root, config);
  }

  public FastTool(String root, String config, FilenameToStream resolver) {
    super(root, config, resolver);
  }

  public FastTool(String folder, String root, String config, FilenameToStream resolver) {
    super(folder, root, config, resolver);
  }

  @Override
  public int getLevelBound(SemanticNode node, Context context, int tool) {
    if (context == Context.Empty && node instanceof LevelNode found && found.getLevel() > 0) {
      return found.getLevel();
    }
    return super.getLevelBound(node, context, tool);
  }

  @Override
  protected TLCState getNextStates(
      Action action, SemanticNode node, ActionItemList rest, Context context,
      TLCState from, TLCState to, INextStateFunctor taker, CostModel cost) {
    return getNextStatesImpl(action, node, rest, context, from, to, taker, cost);
  }

  @Override
  protected TLCState getNextStatesAppl(
      Action action, OpApplNode node, ActionItemList rest, Context context,
      TLCState from, TLCState to, INextStateFunctor taker, CostModel cost) {
    return getNextStatesApplImpl(action, node, rest, context, from, to, taker, cost);
  }

  @Override
  protected TLCState processUnchanged(
      Action action, SemanticNode node, ActionItemList rest, Context context,
      TLCState from, TLCState to, INextStateFunctor taker, CostModel cost) {
    return processUnchangedImpl(action, node, rest, context, from, to, taker, cost);
  }

  @Override
  public Value eval(
      SemanticNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    return evalImpl(node, context, from, to, control, cost);
  }

  @Override
  protected Value evalAppl(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    return evalApplImpl(node, context, from, to, control, cost);
  }

  @Override
  protected Value setSource(SemanticNode node, Value value) {
    return value;
  }

  @Override
  public TLCState enabled(
      SemanticNode node, IActionItemList rest, Context context,
      TLCState from, TLCState to, CostModel cost) {
    return enabledImpl(node, (ActionItemList) rest, context, from, to, cost);
  }

  @Override
  protected TLCState enabledAppl(
      OpApplNode node, ActionItemList rest, Context context,
      TLCState from, TLCState to, CostModel cost) {
    return enabledApplImpl(node, rest, context, from, to, cost);
  }

  @Override
  protected TLCState enabledUnchanged(
      SemanticNode node, ActionItemList rest, Context context,
      TLCState from, TLCState to, CostModel cost) {
    return enabledUnchangedImpl(node, rest, context, from, to, cost);
  }
}
