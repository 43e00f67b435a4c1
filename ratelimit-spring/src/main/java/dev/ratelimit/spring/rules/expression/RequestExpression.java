package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.request.UncertainParameterException;
import dev.ratelimit.spring.rules.text.NumberText;
import dev.ratelimit.spring.rules.text.Operands;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.beans.PropertyDescriptor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanUtils;
import org.springframework.core.NativeDetector;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpEQ;
import org.springframework.expression.spel.ast.OpNE;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * A SpEL expression about a request. It can use {@code #request}, {@code #principal}, {@code #ip} and their methods,
 * but no other types, constructors or beans. Parsed once, and compiled when it is used often. Thread-safe.
 */
public final class RequestExpression {

    private static final boolean REACHES_CONTENT = reachesContent();

    private static final Logger log = LoggerFactory.getLogger(RequestExpression.class);

    /** Types whose subclasses may have more methods at run time. */
    private static final Set<Class<?>> OPEN = Set.of(Principal.class);

    private static final Pattern METHOD = Pattern.compile("#request\\??\\.(method|getMethod\\(\\))");

    private final SpelExpression expression;
    private final Operands operands;
    private final String shown;
    private final Reads reads;

    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Parses an expression.
     *
     * @throws IllegalArgumentException if it is invalid or uses something unknown; the message points at the position
     */
    RequestExpression(String text) {
        this(text, Parameters.NONE);
    }

    /**
     * Parses an expression that may also use the arguments of a method.
     *
     * @throws IllegalArgumentException if it is invalid or uses something unknown; the message points at the position
     */
    RequestExpression(String text, Parameters parameters) {
        SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
        SpelParserConfiguration configuration =
                new SpelParserConfiguration(mode, RequestExpression.class.getClassLoader());
        try {
            this.expression = new SpelExpressionParser(configuration).parseRaw(text);
        } catch (ExpressionException | IllegalStateException e) {
            int position = e instanceof ParseException parse ? Math.max(0, parse.getPosition()) : 0;
            throw new IllegalArgumentException(
                    "not an expression: " + Quotation.message(e.getMessage()) + Quotation.pointingAt(position, text),
                    e);
        } catch (IndexOutOfBoundsException e) {
            // such as a number without its exponent: 2e
            throw new IllegalArgumentException(
                    "not an expression: it ends too early" + Quotation.pointingAt(text.length(), text), e);
        }
        check(expression.getAST(), parameters);
        // a single word is a mistake of another kind
        if (!(expression.getAST() instanceof PropertyOrFieldReference)) {
            checkRoot(expression.getAST());
        }
        this.operands = new Operands(expression.getAST());
        this.shown = ShownExpression.of(expression.getAST(), text);
        this.reads = ExpressionReads.of(expression.getAST());
    }

    /** The expression as logs show it, without texts that may be secrets. */
    @Override
    public String toString() {
        return shown;
    }

    private static void check(SpelNode node, Parameters parameters) {
        if (node instanceof VariableReference variable) {
            checkVariable(variable.toStringAST().substring(1), parameters);
        }
        if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable) {
            String name = variable.toStringAST().substring(1);
            Class<?> type = ExpressionVariables.TYPES.getOrDefault(name, parameters.type(name));
            if (type != null && !isOpen(type) && !isOfContent(type, node.getChild(1))) {
                checkMember(variable.toStringAST(), type, node.getChild(1));
            }
        }
        if (node instanceof OpEQ || node instanceof OpNE) {
            checkMethod(node.getChild(0), node.getChild(1));
            checkMethod(node.getChild(1), node.getChild(0));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            check(node.getChild(i), parameters);
        }
    }

    /** Methods are in upper case, and texts are compared as they are. */
    private static void checkMethod(SpelNode compared, SpelNode with) {
        if (with instanceof StringLiteral literal
                && METHOD.matcher(compared.toStringAST()).matches()) {
            String written = String.valueOf(literal.getLiteralValue().getValue());
            String method = written.toUpperCase(Locale.ROOT);
            if (!written.equals(method) && HttpMethods.ALL.contains(HttpMethods.seenAs(written))) {
                throw new IllegalArgumentException("the method is in upper case, so it is never "
                        + Quotation.of(written) + "; write '" + method + "'");
            }
        }
    }

    /** There is no root object and nothing outside of the request: such an expression would fail for each request. */
    private static void checkRoot(SpelNode node) {
        if (node instanceof PropertyOrFieldReference property) {
            throw new IllegalArgumentException("there is no " + Quotation.message(property.getName())
                    + "; write a text in quotes, as in 'GET', and a" + " property of the request with #request");
        }
        if (node instanceof MethodReference method) {
            throw new IllegalArgumentException("there is no " + Quotation.message(method.getName())
                    + "(); write #request." + Quotation.message(method.getName()) + "(...)");
        }
        if (Stream.of(TypeReference.class, ConstructorReference.class, BeanReference.class, FunctionReference.class)
                .anyMatch(outside -> outside.isInstance(node))) {
            throw new IllegalArgumentException(
                    "types, constructors, beans and functions are out of reach; use #request,"
                            + " #principal and #ip, or bean:NAME as the key");
        }
        boolean elements = Stream.of(Selection.class, Projection.class, Indexer.class, InlineMap.class)
                .anyMatch(ofElements -> ofElements.isInstance(node));
        for (int i = 0; i < node.getChildCount() && !elements; i++) {
            if (i == 0 || !(node instanceof CompoundExpression)) {
                checkRoot(node.getChild(i));
            } else {
                checkArguments(node.getChild(i));
            }
        }
    }

    /** The arguments of a member are expressions of their own. */
    private static void checkArguments(SpelNode member) {
        for (int i = 0; i < member.getChildCount() && member instanceof MethodReference; i++) {
            checkRoot(member.getChild(i));
        }
    }

    private static void checkVariable(String name, Parameters parameters) {
        if (ExpressionVariables.TYPES.containsKey(name)
                || Set.of("this", "root").contains(name)) {
            return;
        }
        if (!parameters.include(name)) {
            throw new IllegalArgumentException("there is no #" + Quotation.message(name) + "; use #request, #principal"
                    + (parameters.toString().isEmpty() ? " or #ip" : ", #ip or a parameter: " + parameters)
                    + parameters.remedy());
        }
    }

    /** Whether an object of this type may have members at run time that the type does not have. */
    private static boolean isOpen(Class<?> type) {
        return OPEN.contains(type)
                || type == Object.class
                || type.isArray()
                || type.isPrimitive()
                || Modifier.isAbstract(type.getModifiers())
                || Map.class.isAssignableFrom(type);
    }

    private static boolean reachesContent() {
        try {
            return new SpelExpressionParser().parseRaw("#root?.length()").getValue(Optional.of("x")) != null;
        } catch (EvaluationException e) {
            return false;
        }
    }

    /** Whether it is a member of what an {@link Optional} contains, which {@code ?.} reaches since Spring Framework 7. */
    private static boolean isOfContent(Class<?> type, SpelNode member) {
        return type == Optional.class && REACHES_CONTENT && member instanceof SpelNodeImpl node && node.isNullSafe();
    }

    /** What the expression reads. If it reads arguments, it is about calls of a method. */
    public Reads reads() {
        return reads;
    }

    private static void checkMember(String variable, Class<?> type, SpelNode member) {
        if (member instanceof MethodReference method && !hasMethod(type, method.getName(), method.getChildCount())) {
            int arguments = method.getChildCount();
            throw unknown(
                    variable,
                    "method " + method.getName() + " with " + arguments + (arguments == 1 ? " argument" : " arguments"),
                    method.getName(),
                    methods(type).map(Method::getName).toList());
        }
        if (member instanceof PropertyOrFieldReference property) {
            String suffix = StringUtils.capitalize(property.getName());
            if (!hasMethod(type, "get" + suffix, 0)
                    && !hasMethod(type, "is" + suffix, 0)
                    && !isOwn(type, property.getName())) {
                throw unknown(variable, "property " + property.getName(), property.getName(), properties(type));
            }
        }
    }

    private static IllegalArgumentException unknown(
            String variable, String member, String written, List<String> names) {
        String closest = Spelling.closest(written, names);
        String hint = closest == null || closest.equals(written) ? "" : "; did you mean " + closest + "?";
        return new IllegalArgumentException(variable + " has no " + Quotation.message(member) + hint);
    }

    private static List<String> properties(Class<?> type) {
        return Stream.of(BeanUtils.getPropertyDescriptors(type))
                .map(PropertyDescriptor::getName)
                .toList();
    }

    /** Whether a type of the application has this property as a field or, like a record, as a method. */
    private static boolean isOwn(Class<?> type, String property) {
        return !ExpressionVariables.TYPES.containsValue(type)
                && (hasMethod(type, property, 0)
                        || Stream.of(type.getFields())
                                .anyMatch(field -> field.getName().equals(property)));
    }

    /** The methods that expressions may call. Those of {@code Object} are not among them. */
    private static Stream<Method> methods(Class<?> type) {
        return Stream.of(type.getMethods()).filter(method -> method.getDeclaringClass() != Object.class);
    }

    private static boolean hasMethod(Class<?> type, String name, int parameters) {
        return methods(type)
                .anyMatch(method -> method.getName().equals(name)
                        && (method.getParameterCount() == parameters || method.isVarArgs()));
    }

    /**
     * A condition on requests. If the expression fails, or is neither true nor false, the condition has the value
     * {@code ifFailed}.
     *
     * @throws IllegalArgumentException also if it is a constant that is neither true nor false
     */
    public static Condition condition(String text, boolean ifFailed) {
        RequestExpression expression = new RequestExpression(text);
        Boolean constant = dependsOnRequest(expression.expression.getAST()) ? null : expression.constant();
        Predicate<RequestContext> test = context -> expression
                .evaluate(context, "true or false", RequestExpression::truth)
                .orElse(ifFailed);
        return new Condition(expression.shown, test, expression.reads, constant);
    }

    private static boolean dependsOnRequest(SpelNode node) {
        boolean variable = node instanceof VariableReference reference
                && !Set.of("this", "root").contains(reference.toStringAST().substring(1));
        return variable || IntStream.range(0, node.getChildCount()).anyMatch(i -> dependsOnRequest(node.getChild(i)));
    }

    /** The value of a constant expression. */
    private boolean constant() {
        try {
            if (expression.getValue(ExpressionContext.METHODS) instanceof Boolean value) {
                return value;
            }
        } catch (EvaluationException e) {
            // the same error as for any other value that is neither true nor false
        }
        throw isConstant("is neither true nor false");
    }

    private IllegalArgumentException isConstant(String what) {
        return new IllegalArgumentException(Quotation.of(shown) + " " + what + "; use #request, #principal or #ip");
    }

    /** An expression whose value depends on the request or on these arguments. */
    public static RequestExpression ofRequest(String text, Parameters parameters) {
        RequestExpression expression = new RequestExpression(text, parameters);
        if (!dependsOnRequest(expression.expression.getAST())) {
            throw expression.isConstant("does not depend on the request");
        }
        return expression;
    }

    private static @Nullable Boolean truth(@Nullable Object value) {
        return value instanceof Boolean holds ? holds : null;
    }

    /**
     * A cost, rounded up; 1 if the expression fails or its value is not a cost; more than any limit if a number is too long
     * to calculate with, or if a parameter is uncertain: whoever answers may read the larger one.
     */
    public static Cost cost(String text, Parameters parameters) {
        RequestExpression expression = ofRequest(text, parameters);
        return new Cost(expression.shown, expression.reads, context -> expression.cost(context));
    }

    private long cost(RequestContext context) {
        try {
            return operands.areTooLong(new ExpressionContext(context))
                    ? Long.MAX_VALUE
                    : evaluateOrThrow(context, "a number of 0 or more", RequestExpression::permits)
                            .orElse(1L);
        } catch (UncertainParameterException e) {
            return Long.MAX_VALUE;
        }
    }

    private static @Nullable Long permits(@Nullable Object value) {
        double permits = value instanceof Number number ? NumberText.valueOf(number) : -1;
        return permits >= 0 ? Long.valueOf((long) Math.ceil(permits)) : null;
    }

    /**
     * The value of a key; {@code null} if the expression is null, fails, or has a value that does not identify callers.
     */
    public @Nullable String key(RequestContext context) {
        return evaluate(context, "a text, a number, a boolean, an enum, a UUID or a principal", RequestExpression::text)
                .filter(text -> !text.isEmpty())
                .orElse(null);
    }

    /**
     * Whether the key is missing although the client has sent something in its place: a parameter without a certain value, several
     * lines of a header, or a value that is blank to a limit only.
     */
    public boolean isUncertain(RequestContext context) {
        try {
            String text =
                    evaluateOrThrow(context, "a key", RequestExpression::text).orElse("");
            return !text.isBlank()
                    || reads.names(Fact.HEADER).stream()
                            .anyMatch(name -> context.request().headers(name).size() > 1);
        } catch (UncertainParameterException e) {
            return true;
        }
    }

    /** The text of a value that has one; other objects differ by their identity, or not at all. */
    private static @Nullable String text(@Nullable Object value) {
        if (value == null) {
            return "";
        }
        if (value instanceof Optional<?> optional) {
            return text(optional.orElse(null));
        }
        if (value instanceof Number number) {
            return NumberText.of(number);
        }
        if (value instanceof Principal principal) {
            return Objects.requireNonNullElse(principal.getName(), "");
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        boolean text = value instanceof CharSequence
                || value instanceof Character
                || value instanceof Boolean
                || value instanceof UUID;
        return text ? value.toString() : null;
    }

    /**
     * Evaluates and converts the expression. Empty if it fails or has an unsuitable value; either is logged once.
     *
     * @param wanted for the log
     * @param convert returns {@code null} for an unsuitable value
     */
    private <T> Optional<T> evaluate(
            RequestContext context, String wanted, Function<@Nullable Object, @Nullable T> convert) {
        try {
            return evaluateOrThrow(context, wanted, convert);
        } catch (UncertainParameterException e) {
            return Optional.empty();
        }
    }

    /**
     * Evaluates and converts the expression, likewise.
     *
     * @throws UncertainParameterException if it reads a parameter that has no certain value: a client's doing, not logged
     */
    private <T> Optional<T> evaluateOrThrow(
            RequestContext context, String wanted, Function<@Nullable Object, @Nullable T> convert) {
        try {
            EvaluationContext variables = new ExpressionContext(context);
            if (operands.areTooLong(variables)) {
                throw new ArithmeticException("a number has too many digits");
            }
            Object value = expression.getValue(variables);
            T converted = convert.apply(value);
            if (converted == null && failed.compareAndSet(false, true)) {
                log.warn(
                        "The expression {} returned {}, which counts as a failure; it must return {}. This is logged once",
                        shown,
                        value == null ? "null" : "a value of type " + ClassUtils.getQualifiedName(value.getClass()),
                        wanted);
            }
            return Optional.ofNullable(converted);
        } catch (RuntimeException e) {
            if (NestedExceptionUtils.getMostSpecificCause(e) instanceof UncertainParameterException uncertain) {
                throw uncertain;
            }
            if (failed.compareAndSet(false, true)) {
                // the message of the exception may contain what a client sent
                log.warn(
                        "The expression {} failed with {}; this is logged once",
                        shown,
                        e.getClass().getName());
                log.debug("The failure of the expression {}", shown, e);
            }
            return Optional.empty();
        }
    }
}
