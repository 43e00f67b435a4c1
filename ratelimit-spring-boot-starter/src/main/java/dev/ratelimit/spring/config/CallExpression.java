package dev.ratelimit.spring.config;

import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleMatch;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NativeDetector;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.util.StringUtils;

/**
 * An expression of SpEL about a request: {@code #request}, {@code #principal} and {@code #ip} are what there is, and their
 * methods; no other types, constructors or beans. Parsed once, and compiled when it is used often. Thread-safe.
 */
final class CallExpression {

    private static final Logger log = LoggerFactory.getLogger(CallExpression.class);

    private static final Map<String, Class<?>> VARIABLES =
            Map.of("request", HttpServletRequest.class, "principal", Principal.class, "ip", String.class);

    /** Of these, more is known at run time than here. */
    private static final Set<Class<?>> OPEN = Set.of(Principal.class);

    private static final EvaluationContext METHODS = SimpleEvaluationContext.forReadOnlyDataBinding()
            .withInstanceMethods()
            .build();

    /** How an expression asks for the caller, by the variable or by the request. */
    private static final Pattern PRINCIPAL = Pattern.compile("#principal|[uU]serPrincipal|[rR]emoteUser|isUserInRole");

    private final SpelExpression expression;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Parses an expression.
     *
     * @throws IllegalArgumentException when it is none, or names what there is not; the message points at the place
     */
    CallExpression(String text) {
        SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
        SpelParserConfiguration configuration =
                new SpelParserConfiguration(mode, CallExpression.class.getClassLoader());
        try {
            this.expression = new SpelExpressionParser(configuration).parseRaw(text);
        } catch (ParseException | IllegalStateException e) {
            int position = e instanceof ParseException parse ? Math.max(0, parse.getPosition()) : 0;
            throw new IllegalArgumentException(
                    "not an expression: " + e.getMessage() + "\n      " + text + "\n      " + " ".repeat(position)
                            + "^",
                    e);
        }
        check(expression.getAST());
    }

    private static void check(SpelNode node) {
        if (node instanceof VariableReference variable) {
            String name = variable.toStringAST().substring(1);
            if (!VARIABLES.containsKey(name) && !Set.of("this", "root").contains(name)) {
                throw new IllegalArgumentException("there is no #" + name + "; there are #request, #principal and #ip");
            }
        }
        if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable) {
            Class<?> type = VARIABLES.get(variable.toStringAST().substring(1));
            if (type != null && !OPEN.contains(type)) {
                checkMember(type, node.getChild(1));
            }
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            check(node.getChild(i));
        }
    }

    private static void checkMember(Class<?> type, SpelNode member) {
        if (member instanceof MethodReference method && !hasMethod(type, method.getName(), method.getChildCount())) {
            throw new IllegalArgumentException(type.getSimpleName() + " has no method " + method.getName() + " of "
                    + method.getChildCount() + " arguments");
        }
        if (member instanceof PropertyOrFieldReference property) {
            String suffix = StringUtils.capitalize(property.getName());
            if (!hasMethod(type, "get" + suffix, 0) && !hasMethod(type, "is" + suffix, 0)) {
                throw new IllegalArgumentException(type.getSimpleName() + " has no property " + property.getName());
            }
        }
    }

    private static boolean hasMethod(Class<?> type, String name, int parameters) {
        return Stream.of(type.getMethods())
                .anyMatch(method -> method.getName().equals(name)
                        && (method.getParameterCount() == parameters || method.isVarArgs()));
    }

    /** A condition on requests; where it fails, or is neither true nor false, it holds or not, as said here. */
    static RuleMatch.Condition condition(String text, boolean ifFailed) {
        CallExpression expression = new CallExpression(text);
        Predicate<Call> test = call -> expression.evaluate(call, ifFailed) instanceof Boolean holds ? holds : ifFailed;
        return new RuleMatch.Condition(text, test, PRINCIPAL.matcher(text).find());
    }

    /** A price, rounded up; 1 where the expression fails or is no price. */
    static Rule.Price price(String text) {
        CallExpression expression = new CallExpression(text);
        return new Rule.Price(text, call -> {
            Object value = expression.evaluate(call, null);
            double permits = value instanceof Number number ? Math.ceil(number.doubleValue()) : -1;
            return permits >= 0 ? (long) permits : 1;
        });
    }

    /** The value, or this one where the expression fails, which is logged once. */
    @Nullable
    Object evaluate(Call call, @Nullable Object ifFailed) {
        try {
            return expression.getValue(new CallContext(call));
        } catch (RuntimeException e) {
            if (expression.getExpressionString().contains("arameter")) {
                call.fail(e);
            }
            if (failed.compareAndSet(false, true)) {
                // its message may hold what a client sent
                log.warn(
                        "The expression {} failed with {} and counts as {}; this is logged once",
                        expression.getExpressionString(),
                        e.getClass().getName(),
                        ifFailed);
                log.debug("the first failure", e);
            }
            return ifFailed;
        }
    }

    /** What an expression can use; only the variables differ from call to call. */
    private record CallContext(Call call) implements EvaluationContext {

        @Override
        public @Nullable Object lookupVariable(String name) {
            return switch (name) {
                case "request" -> call.request();
                case "principal" -> call.request().getUserPrincipal();
                case "ip" -> call.addressText();
                default -> null;
            };
        }

        @Override
        public void setVariable(String name, @Nullable Object value) {
            throw new UnsupportedOperationException("variables cannot be set");
        }

        @Override
        public boolean isAssignmentEnabled() {
            return false;
        }

        @Override
        public TypedValue getRootObject() {
            return TypedValue.NULL;
        }

        @Override
        public List<PropertyAccessor> getPropertyAccessors() {
            return METHODS.getPropertyAccessors();
        }

        @Override
        public List<IndexAccessor> getIndexAccessors() {
            return METHODS.getIndexAccessors();
        }

        @Override
        public List<ConstructorResolver> getConstructorResolvers() {
            return METHODS.getConstructorResolvers();
        }

        @Override
        public List<MethodResolver> getMethodResolvers() {
            return METHODS.getMethodResolvers();
        }

        @Override
        public @Nullable BeanResolver getBeanResolver() {
            return METHODS.getBeanResolver();
        }

        @Override
        public TypeLocator getTypeLocator() {
            return METHODS.getTypeLocator();
        }

        @Override
        public TypeConverter getTypeConverter() {
            return METHODS.getTypeConverter();
        }

        @Override
        public TypeComparator getTypeComparator() {
            return METHODS.getTypeComparator();
        }

        @Override
        public OperatorOverloader getOperatorOverloader() {
            return METHODS.getOperatorOverloader();
        }
    }
}
