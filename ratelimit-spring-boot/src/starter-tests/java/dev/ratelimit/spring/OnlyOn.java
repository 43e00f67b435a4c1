package dev.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** A test of something that one web stack does and the other does not, by design. */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnlyOn.Condition.class)
public @interface OnlyOn {

    /** The web stack that does it. */
    Stack value();

    /** The difference: the words in bold of one of those listed in docs/webflux.md. */
    String difference();

    /** Runs the test on its web stack only. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), OnlyOn.class)
                    .filter(only -> only.value() != Stack.current())
                    .map(only -> ConditionEvaluationResult.disabled(only.difference()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("on any web stack"));
        }
    }
}
