package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.StringUtils;

/** Finds what an expression reads of a request: the members of {@code #request} that it uses, and other variables. */
final class ExpressionReads {

    /** The members of {@code #request}, by name. */
    private static final Map<String, Method> MEMBERS = Stream.of(ExpressionVariables.Request.class.getMethods())
            .filter(method -> method.isAnnotationPresent(ReadsFact.class))
            .collect(Collectors.toUnmodifiableMap(Method::getName, method -> method));

    private ExpressionReads() {}

    /** What the expression reads, in every branch. */
    static Reads of(SpelNode node) {
        Reads reads = Reads.NOTHING;
        int from = 0;
        if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable) {
            reads = ofMember(variable.toStringAST().substring(1), node);
            from = 1;
        } else if (node instanceof VariableReference variable) {
            reads = ofWhole(variable.toStringAST().substring(1));
        }
        for (int i = from; i < node.getChildCount(); i++) {
            reads = reads.and(of(node.getChild(i)));
        }
        return reads;
    }

    /** What a variable gives if it is not only asked for a member. */
    private static Reads ofWhole(String name) {
        return switch (name) {
            case "request" -> Reads.ANYTHING;
            case "principal" -> Reads.of(Fact.PRINCIPAL);
            case "ip" -> Reads.of(Fact.ADDRESS);
            case "this", "root" -> Reads.NOTHING;
            default -> Reads.of(Fact.ARGUMENT, name);
        };
    }

    /** What the members give that follow a variable. */
    private static Reads ofMember(String variable, SpelNode path) {
        if (variable.equals("principal")) {
            return ofCaller(path, 1);
        }
        if (!variable.equals("request")) {
            return ofWhole(variable);
        }
        SpelNode member = path.getChild(1);
        Method method = method(member);
        if (method == null) {
            return Reads.ANYTHING;
        }
        if (Principal.class.isAssignableFrom(method.getReturnType())) {
            return ofCaller(path, 2);
        }
        ReadsFact said = method.getAnnotation(ReadsFact.class);
        String name = method.getParameterCount() == 0 ? said.name() : text(member);
        return name == null || name.isEmpty() ? Reads.of(said.value()) : Reads.of(said.value(), name);
    }

    /** A caller of whom the expression uses its name or, if anything else follows, possibly more. */
    private static Reads ofCaller(SpelNode path, int next) {
        String name = next < path.getChildCount() ? name(path.getChild(next)) : "";
        return Reads.of(Set.of("name", "getName").contains(name) ? Fact.USER : Fact.PRINCIPAL);
    }

    private static @Nullable Method method(SpelNode member) {
        String name = name(member);
        if (member instanceof PropertyOrFieldReference) {
            Method getter = MEMBERS.get("get" + StringUtils.capitalize(name));
            return getter == null ? MEMBERS.get("is" + StringUtils.capitalize(name)) : getter;
        }
        return MEMBERS.get(name);
    }

    private static String name(SpelNode member) {
        if (member instanceof PropertyOrFieldReference property) {
            return property.getName();
        }
        return member instanceof MethodReference method ? method.getName() : "";
    }

    /** The only argument, if it is a text. */
    private static @Nullable String text(SpelNode member) {
        return member.getChildCount() == 1 && member.getChild(0) instanceof StringLiteral literal
                ? String.valueOf(literal.getLiteralValue().getValue())
                : null;
    }
}
