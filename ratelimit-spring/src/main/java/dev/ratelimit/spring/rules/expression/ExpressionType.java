package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.rules.request.Parameters;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BooleanLiteral;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpAnd;
import org.springframework.expression.spel.ast.OpEQ;
import org.springframework.expression.spel.ast.OpGE;
import org.springframework.expression.spel.ast.OpGT;
import org.springframework.expression.spel.ast.OpLE;
import org.springframework.expression.spel.ast.OpLT;
import org.springframework.expression.spel.ast.OpNE;
import org.springframework.expression.spel.ast.OpOr;
import org.springframework.expression.spel.ast.OperatorBetween;
import org.springframework.expression.spel.ast.OperatorMatches;
import org.springframework.expression.spel.ast.OperatorNot;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** The type of an expression's value, as far as it can be seen in the expression. */
final class ExpressionType {

    private static final List<Class<?>> TRUTHS = List.of(
            BooleanLiteral.class,
            OpAnd.class,
            OpEQ.class,
            OpGE.class,
            OpGT.class,
            OpLE.class,
            OpLT.class,
            OpNE.class,
            OpOr.class,
            OperatorBetween.class,
            OperatorMatches.class,
            OperatorNot.class);

    private ExpressionType() {}

    /** The type of the value, unless it is null; {@code null} if it cannot be seen. */
    static @Nullable Class<?> of(SpelNode node, Parameters parameters) {
        if (node instanceof StringLiteral) {
            return String.class;
        }
        if (TRUTHS.contains(node.getClass())) {
            return Boolean.class;
        }
        if (node instanceof VariableReference variable) {
            String name = variable.toStringAST().substring(1);
            return ExpressionVariables.TYPES.getOrDefault(name, parameters.type(name));
        }
        if (node instanceof Ternary) {
            Class<?> first = of(node.getChild(1), parameters);
            return first != null && first.equals(of(node.getChild(2), parameters)) ? first : null;
        }
        return node instanceof CompoundExpression ? ofMember(node, parameters) : null;
    }

    /** The type of a chain of methods and properties. */
    private static @Nullable Class<?> ofMember(SpelNode chain, Parameters parameters) {
        Class<?> type = of(chain.getChild(0), parameters);
        for (int i = 1; i < chain.getChildCount() && type != null; i++) {
            type = result(type, chain.getChild(i));
        }
        return type;
    }

    private static @Nullable Class<?> result(Class<?> type, SpelNode member) {
        if (Map.class.isAssignableFrom(type) || type == Optional.class) {
            // the member may be that of a value
            return null;
        }
        List<Class<?>> results = Stream.of(type.getMethods())
                .filter(method -> isCalled(method, member))
                .<Class<?>>map(Method::getReturnType)
                .distinct()
                .toList();
        return results.size() == 1 ? results.get(0) : null;
    }

    private static boolean isCalled(Method method, SpelNode member) {
        if (member instanceof MethodReference called) {
            return method.getName().equals(called.getName()) && method.getParameterCount() == called.getChildCount();
        }
        if (!(member instanceof PropertyOrFieldReference property) || method.getParameterCount() > 0) {
            return false;
        }
        String suffix = StringUtils.capitalize(property.getName());
        return method.getName().equals("get" + suffix) || method.getName().equals("is" + suffix);
    }

    /** Whether a value of this type, or of a subtype, may be of the wanted class. */
    static boolean mayBe(Class<?> wanted, Class<?> type) {
        Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(type);
        return wanted.isAssignableFrom(boxed)
                || boxed.isAssignableFrom(wanted)
                || (boxed.isInterface() && !Modifier.isFinal(wanted.getModifiers()));
    }
}
