package dev.ratelimit.spring.rules.text;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;

/**
 * The numbers that an expression calculates with. Java writes a decimal number out to calculate with it: {@code 1e300000000}
 * in a body of a few bytes becomes 300 million digits, which takes minutes. Immutable.
 */
public final class Operands {

    private static final Set<Class<?>> ARITHMETIC =
            Set.of(OpPlus.class, OpMinus.class, OpMultiply.class, OpDivide.class, OpModulus.class);

    /** Without those that are themselves calculated. */
    private final List<SpelNodeImpl> operands = new ArrayList<>();

    /** Finds the operands in an expression. */
    public Operands(SpelNode expression) {
        find(expression);
    }

    private void find(SpelNode node) {
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            if (ARITHMETIC.contains(node.getClass()) && !ARITHMETIC.contains(child.getClass())) {
                operands.add((SpelNodeImpl) child);
            }
            find(child);
        }
    }

    /** Whether one of them is too long to calculate with. */
    public boolean areTooLong(EvaluationContext context) {
        for (int i = 0; i < operands.size(); i++) {
            try {
                Object value = operands.get(i).getValue(new ExpressionState(context));
                if (value instanceof BigDecimal number && NumberText.isTooLong(number)) {
                    return true;
                }
            } catch (RuntimeException e) {
                // the expression fails likewise, or does not get there
            }
        }
        return false;
    }
}
