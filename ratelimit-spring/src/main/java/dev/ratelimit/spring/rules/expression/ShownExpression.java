package dev.ratelimit.spring.rules.expression;

import java.util.NavigableMap;
import java.util.TreeMap;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * An expression as logs show it. The texts that it compares with may be secrets, for example from a placeholder, and
 * are hidden. The arguments of a variable's methods are shown, such as the name of a header.
 */
final class ShownExpression {

    private ShownExpression() {}

    /** The text of an expression, with dots in place of hidden texts. */
    static String of(SpelNode expression, String text) {
        NavigableMap<Integer, Integer> hidden = new TreeMap<>();
        find(expression, hidden);
        StringBuilder shown = new StringBuilder(text);
        hidden.descendingMap().forEach((start, end) -> shown.replace(start, end, "'…'"));
        return shown.toString();
    }

    private static void find(SpelNode node, NavigableMap<Integer, Integer> hidden) {
        if (node instanceof StringLiteral) {
            hidden.put(node.getStartPosition(), node.getEndPosition());
        }
        boolean ofVariable = node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            boolean names = ofVariable && i == 1 && child instanceof MethodReference;
            for (int j = 0; names && j < child.getChildCount(); j++) {
                if (!(child.getChild(j) instanceof StringLiteral)) {
                    find(child.getChild(j), hidden);
                }
            }
            if (!names) {
                find(child, hidden);
            }
        }
    }
}
