package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Reports a mistake in a policy or an annotation. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ConfigurationMistakeAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

    private final MistakeReport report;

    ConfigurationMistakeAnalyzer(Environment environment) {
        this.report = new MistakeReport(environment);
    }

    @Override
    protected FailureAnalysis analyze(Throwable root, RateLimitConfigurationException mistake) {
        return report.of(mistake, mistake);
    }
}
