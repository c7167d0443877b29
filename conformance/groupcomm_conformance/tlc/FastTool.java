package tlc2.tool.impl;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import tla2sany.semantic.LevelNode;
import tla2sany.semantic.OpApplNode;
import tla2sany.semantic.OpDeclNode;
import tla2sany.semantic.SemanticNode;
import tla2sany.semantic.SymbolNode;
import tlc2.tool.Action;
import tlc2.tool.EvalControl;
import tlc2.tool.IActionItemList;
import tlc2.tool.INextStateFunctor;
import tlc2.tool.TLCState;
import tlc2.tool.coverage.CostModel;
import tlc2.util.Context;
import tlc2.value.impl.LazyValue;
import tlc2.value.impl.Value;
import util.FilenameToStream;

/**
 * The evaluator of TLC, in the place of its own class of this name. Like that class it forwards to {@link Tool}, but
 * for one question, to which the parser already has the answer, and for one value, which is computed once.
 *
 * <p>Before it searches, TLC asks of each definition without parameters, in each module that has it, whether it is
 * constant: its value is then computed once. For that it walks through all that the definition uses, as often as it is
 * used: two thirds of the time of a small model. The parser has found the level of each expression, from those of its
 * parts, once. Where it says that something is no constant, that is the answer: at worst a value is computed more than
 * once. (A model may put another definition in the place of a constant one, which the parser does not know. So what it
 * takes for constant is looked through as ever.)
 *
 * <p>In an action and in a claim TLC computes a LET and an operator's argument once, however often it is used. Inside
 * ENABLED it computes them anew at each use, since the next state may not be known yet. Where a LET uses others
 * twice, which use others twice, that has no bound: 104 states of SEQUENCER with Majority took 18 seconds. Here an
 * expression that says nothing of the next state, neither itself nor by what it is given, is computed once in each
 * question whether an action is enabled.
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
    if (to != null && EvalControl.isEnabled(control) && node.getArgs().length == 0
        && context.lookup(node.getOperator()) instanceof LazyValue lazy) {
      return remembered(lazy, node, context, from, to, control, cost);
    }
    return evalApplImpl(node, context, from, to, control, cost);
  }

  /** A question whether an action is enabled: the values found for it, each with its state, and what may be kept. */
  private static final class Question {
    int depth;
    final Map<LazyValue, Found> values = new IdentityHashMap<>();
    final Map<LazyValue, Boolean> ofOneState = new IdentityHashMap<>();
  }

  private record Found(TLCState state, Value value) {}

  private static final ThreadLocal<Question> QUESTION = ThreadLocal.withInitial(Question::new);

  private Value remembered(
      LazyValue lazy, OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    Question question = QUESTION.get();
    Found found = question.values.get(lazy);
    if (found != null && found.state == from) {
      return found.value;
    }
    Value value = evalApplImpl(node, context, from, to, control, cost);
    if (question.depth > 0 && isOfOneState(lazy, question.ofOneState)) {
      question.values.put(lazy, new Found(from, value));
    }
    return value;
  }

  /** Whether a value says nothing of the next state: not by itself, nor by the parameters that it mentions. */
  private static boolean isOfOneState(LazyValue lazy, Map<LazyValue, Boolean> known) {
    Boolean answer = known.get(lazy);
    if (answer == null) {
      answer = lazy.expr instanceof LevelNode node && node.getLevel() <= 1;
      for (SymbolNode parameter : answer ? ((LevelNode) lazy.expr).getLevelParams() : Set.<SymbolNode>of()) {
        Object given = lazy.con.lookup(parameter);
        answer &= given instanceof LazyValue other
            ? isOfOneState(other, known)
            : given instanceof Value || (given == null && parameter instanceof OpDeclNode);
      }
      known.put(lazy, answer);
    }
    return answer;
  }

  @Override
  protected Value setSource(SemanticNode node, Value value) {
    return value;
  }

  @Override
  public TLCState enabled(
      SemanticNode node, IActionItemList rest, Context context,
      TLCState from, TLCState to, CostModel cost) {
    Question question = QUESTION.get();
    question.depth++;
    try {
      return enabledImpl(node, (ActionItemList) rest, context, from, to, cost);
    } finally {
      if (--question.depth == 0) {
        question.values.clear();
        question.ofOneState.clear();
      }
    }
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
