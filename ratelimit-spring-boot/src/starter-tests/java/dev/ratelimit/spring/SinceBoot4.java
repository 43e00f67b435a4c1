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
import org.springframework.boot.SpringBootVersion;

/** A test of something that Spring Boot 3.5, or what it brings, does not do. */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SinceBoot4.Condition.class)
public @interface SinceBoot4 {

    /** What 3.5 does instead. */
    String value();

    /** Runs the test on Spring Boot 4 only. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), SinceBoot4.class)
                    .filter(since -> SpringBootVersion.getVersion().startsWith("3."))
                    .map(since -> ConditionEvaluationResult.disabled(since.value()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("on any version"));
        }
    }
}
