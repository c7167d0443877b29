package tlc2.tool.impl;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import tla2sany.semantic.ASTConstants;
import tla2sany.semantic.ExprNode;
import tla2sany.semantic.ExprOrOpArgNode;
import tla2sany.semantic.FormalParamNode;
import tla2sany.semantic.LetInNode;
import tla2sany.semantic.LevelNode;
import tla2sany.semantic.OpApplNode;
import tla2sany.semantic.OpDeclNode;
import tla2sany.semantic.OpDefNode;
import tla2sany.semantic.SemanticNode;
import tla2sany.semantic.SymbolNode;
import tlc2.tool.Action;
import tlc2.tool.BuiltInOPs;
import tlc2.tool.EvalControl;
import tlc2.tool.IActionItemList;
import tlc2.tool.INextStateFunctor;
import tlc2.tool.TLCState;
import tlc2.tool.coverage.CostModel;
import tlc2.util.Context;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.Enumerable;
import tlc2.value.impl.FcnLambdaValue;
import tlc2.value.impl.FcnRcdValue;
import tlc2.value.impl.LazyValue;
import tlc2.value.impl.MethodValue;
import tlc2.value.impl.OpValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import tlc2.value.impl.ValueEnumeration;
import util.FilenameToStream;

/**
 * The evaluator of TLC, in the place of its own class of this name. Like that class it forwards to {@link Tool}, but
 * for one question, to which the parser already has the answer, for values that are computed once, and for the
 * operators that are most frequent.
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
 *
 * <p>Where a property is a step of states, TLC computes the same anew, at each use, in the next state, and what INSTANCE
 * puts in the place of a variable in both. Here that is once in each of the two. All that TLC evaluates goes through a
 * single method of 6,000 bytes. Here the most frequent operators have short methods, which give null where anything
 * is not as it mostly is: then TLC's own method evaluates it again, and says what is wrong.
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
    if (node instanceof OpApplNode application && !coverage) {
      return evalAppl(application, context, from, to, control, cost);
    }
    if (!(node instanceof LetInNode let)) {
      return evalImpl(node, context, from, to, control, cost);
    }
    Context inner = context;
    for (OpDefNode each : let.getLets()) {
      if (each.getArity() == 0) {
        inner = inner.cons(each, new Kept(each.getBody(), inner, true, cost));
      }
    }
    return eval(let.getBody(), inner, from, to, control, cost);
  }

  /** Evaluate what is most frequent by short methods of its own, and all else, mistakes too, as TLC does. */
  @Override
  protected Value evalAppl(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    if (coverage) {
      return evalApplImpl(node, context, from, to, control, cost);
    }
    Value value = switch (BuiltInOPs.getOpCode(node.getOperator().getName())) {
      case 0 -> named(node, context, from, to, control, cost);
      case OPCODE_fa -> applied(node, context, from, to, control, cost);
      case OPCODE_rs -> selected(node, context, from, to, control, cost);
      case OPCODE_ite -> chosen(node, context, from, to, control, cost);
      case OPCODE_cl, OPCODE_land -> all(node, context, from, to, control, cost);
      case OPCODE_dl, OPCODE_lor -> any(node, context, from, to, control, cost);
      case OPCODE_implies -> implied(node, context, from, to, control, cost);
      case OPCODE_lnot -> negated(node, context, from, to, control, cost);
      case OPCODE_eq -> truth(
          eval(node.getArgs()[0], context, from, to, control, cost)
              .equals(eval(node.getArgs()[1], context, from, to, control, cost)));
      case OPCODE_noteq -> truth(
          !eval(node.getArgs()[0], context, from, to, control, cost)
              .equals(eval(node.getArgs()[1], context, from, to, control, cost)));
      case OPCODE_in -> isMember(node, context, from, to, control, cost);
      case OPCODE_notin -> truth(isMember(node, context, from, to, control, cost) == BoolValue.ValFalse);
      case OPCODE_be -> quantified(true, node, context, from, to, control, cost);
      case OPCODE_bf -> quantified(false, node, context, from, to, control, cost);
      case OPCODE_case -> firstCase(node, context, from, to, control, cost);
      case OPCODE_tup -> new TupleValue(values(node, context, from, to, control, cost), cost);
      case OPCODE_se -> new SetEnumValue(values(node, context, from, to, control, cost), false, cost);
      case OPCODE_sa -> evalApplImpl(node, context, from, to, control | JUDGING, cost);
      case OPCODE_prime -> to == null
          ? null
          : eval(node.getArgs()[0], context, to, null, EvalControl.setPrimedIfEnabled(control), cost);
      default -> null;
    };
    return value != null ? value : evalApplImpl(node, context, from, to, control, cost);
  }

  private static Value truth(boolean value) {
    return value ? BoolValue.ValTrue : BoolValue.ValFalse;
  }

  private Value named(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    Object found = lookup(node.getOperator(), context, from, EvalControl.isPrimed(control));
    if (found instanceof OpDefNode definition) {
      return BuiltInOPs.getOpCode(definition.getName()) != 0
          ? null
          : eval(
              definition.getBody(), getOpContext(definition, arguments, context, true, cost, toolId),
              from, to, control, cost);
    }
    if (arguments.length > 0) {
      return found instanceof MethodValue method
          ? method.eval(this, arguments, context, from, to, control, cost)
          : null;
    }
    if (found instanceof LazyValue lazy) {
      if (EvalControl.isEnabled(control)) {
        return to == null ? null : remembered(lazy, node, context, from, to, control, cost);
      }
      return kept(lazy, from, to, control);
    }
    return found instanceof Value value && !(value instanceof OpValue) ? value : null;
  }

  /** A parameter's or a LET's value: as TLC computes it, but in a property once in each of the two states. */
  private Value kept(LazyValue lazy, TLCState from, TLCState to, int control) {
    boolean here = to != null;
    boolean keeps = here && !lazy.isUncachable();
    Kept both = !keeps && (control & JUDGING) != 0 && lazy instanceof Kept found ? found : null;
    Found last = both == null ? null : here ? both.here : both.next;
    Value value = keeps ? lazy.getValue() : last != null && last.state == from ? last.value : null;
    if (value == null) {
      value = eval(lazy.expr, lazy.con, from, to, control, lazy.getCostModel());
      int level = ((LevelNode) lazy.expr).getLevel();
      if (keeps && level <= (EvalControl.isInit(control) ? 0 : 1)) {
        lazy.setValue(value);
      } else if (both != null && level <= 1) {
        if (here) {
          both.here = new Found(from, value);
        } else {
          both.next = new Found(from, value);
        }
      }
    }
    return value instanceof MethodValue method ? method.apply(EmptyArgs, EvalControl.Clear) : value;
  }

  private Value applied(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    Value function = eval(arguments[0], context, from, to, EvalControl.setKeepLazy(control), cost);
    if (function instanceof FcnRcdValue record) {
      return record.apply(eval(arguments[1], context, from, to, control, cost), control);
    }
    if (function instanceof FcnLambdaValue lambda) {
      return lambda.apply(eval(arguments[1], context, from, to, control, cost), control);
    }
    if (arguments.length == 2 && function instanceof TupleValue tuple) {
      return tuple.apply(eval(arguments[1], context, from, to, control, cost), control);
    }
    if (arguments.length == 2 && function instanceof RecordValue record) {
      return record.apply(eval(arguments[1], context, from, to, control, cost), control);
    }
    return null;
  }

  private Value selected(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    return eval(arguments[0], context, from, to, control, cost) instanceof RecordValue record
            && arguments[1].getToolObject(toolId) instanceof Value name
        ? record.select(name)
        : null;
  }

  private Value chosen(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    return eval(arguments[0], context, from, to, control, cost) instanceof BoolValue is
        ? eval(arguments[is.val ? 1 : 2], context, from, to, control, cost)
        : null;
  }

  private Value all(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    for (ExprOrOpArgNode each : node.getArgs()) {
      if (!(eval(each, context, from, to, control, cost) instanceof BoolValue is)) {
        return null;
      }
      if (!is.val) {
        return BoolValue.ValFalse;
      }
    }
    return BoolValue.ValTrue;
  }

  private Value any(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    for (ExprOrOpArgNode each : node.getArgs()) {
      if (!(eval(each, context, from, to, control, cost) instanceof BoolValue is)) {
        return null;
      }
      if (is.val) {
        return BoolValue.ValTrue;
      }
    }
    return BoolValue.ValFalse;
  }

  private Value implied(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    if (!(eval(arguments[0], context, from, to, control, cost) instanceof BoolValue is)) {
      return null;
    }
    return !is.val
        ? BoolValue.ValTrue
        : eval(arguments[1], context, from, to, control, cost) instanceof BoolValue then ? then : null;
  }

  private Value firstCase(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    for (ExprOrOpArgNode each : node.getArgs()) {
      ExprOrOpArgNode[] pair = ((OpApplNode) each).getArgs();
      if (pair[0] == null) {
        return eval(pair[1], context, from, to, control, cost); // OTHER, the last one
      }
      if (!(eval(pair[0], context, from, to, control, cost) instanceof BoolValue is)) {
        return null;
      }
      if (is.val) {
        return eval(pair[1], context, from, to, control, cost);
      }
    }
    return null;
  }

  private Value[] values(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    ExprOrOpArgNode[] arguments = node.getArgs();
    Value[] values = new Value[arguments.length];
    for (int n = 0; n < values.length; n++) {
      values[n] = eval(arguments[n], context, from, to, control, cost);
    }
    return values;
  }

  private Value negated(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    return eval(node.getArgs()[0], context, from, to, control, cost) instanceof BoolValue is ? truth(!is.val) : null;
  }

  private Value isMember(
      OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    Value element = eval(node.getArgs()[0], context, from, to, control, cost);
    return truth(eval(node.getArgs()[1], context, from, to, control, cost).member(element));
  }

  /** Of a single name that is no tuple: other quantifiers are rare. */
  private Value quantified(
      boolean exists, OpApplNode node, Context context, TLCState from,
      TLCState to, int control, CostModel cost) {
    FormalParamNode[][] names = node.getBdedQuantSymbolLists();
    if (names.length != 1 || names[0].length != 1 || node.isBdedQuantATuple()[0]
        || !(eval(node.getBdedQuantBounds()[0], context, from, to, control, cost) instanceof Enumerable set)) {
      return null;
    }
    SemanticNode body = node.getArgs()[0];
    ValueEnumeration elements = set.elements();
    for (Value each = elements.nextElement(); each != null; each = elements.nextElement()) {
      if (!(eval(body, context.cons(names[0][0], each), from, to, control, cost) instanceof BoolValue is)) {
        return null;
      }
      if (is.val == exists) {
        return is;
      }
    }
    return truth(!exists);
  }

  /** A parameter or a LET that is given on as it is needs no value of its own. */
  @Override
  public Object getVal(ExprOrOpArgNode given, Context context, boolean keeps, CostModel cost, int tool) {
    if (keeps && given instanceof OpApplNode node && node.getArgs().length == 0
        && node.getOperator().getKind() != ASTConstants.VariableDeclKind
        && context.lookup(node.getOperator()) instanceof Value value
        && !(value instanceof OpValue) && !(value instanceof LazyValue lazy && lazy.isUncachable())) {
      return value;
    }
    return given instanceof ExprNode expression
        ? new Kept(expression, context, keeps, cost)
        : super.getVal(given, context, keeps, cost, tool);
  }

  /** A bit of `control`: an action property is judged, so both states are whole, and stay as they are. */
  private static final int JUDGING = 1 << 16;

  /**
   * A parameter or a LET, with its last values where properties are judged. What INSTANCE puts in the place of a
   * variable is a single object for all pairs of states, which TLC computes anew at each use. Each value is in one
   * object with its state, as workers share them.
   */
  private static final class Kept extends LazyValue {
    private static final long serialVersionUID = 1L;
    transient Found here;
    transient Found next;

    Kept(SemanticNode expression, Context context, boolean keeps, CostModel cost) {
      super(expression, context, keeps, cost);
    }
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
