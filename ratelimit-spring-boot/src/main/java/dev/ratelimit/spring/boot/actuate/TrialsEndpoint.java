package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.rules.operation.TrialJournal;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of the endpoint under {@code {policy}/trial}: trials of other limits. */
public record TrialsEndpoint(TrialJournal trials) {

    /** Of a trial, in the body. */
    static final Set<String> FIELDS = Set.of("limit", "burst", "algorithm", "duration", "reason");

    /** The policy whose trial the rest of the path names; {@code null} if it names something else. */
    static @Nullable String policyOf(@Nullable String name) {
        return name != null && name.endsWith(Rule.TRIAL)
                ? name.substring(0, name.length() - Rule.TRIAL.length())
                : null;
    }

    Map<String, Object> start(String policy, SentArguments fields, boolean showKeys) {
        String limit = fields.first("limit");
        if (limit == null) {
            throw new IllegalArgumentException("a trial needs a limit; write 50/minute");
        }
        RateLimitTrial trial = RateLimitTrial.of(limit.strip());
        String burst = fields.first("burst");
        trial = burst == null ? trial : trial.withBurst(WrittenChange.burstOf(burst));
        String algorithm = fields.first("algorithm");
        trial = algorithm == null ? trial : trial.by(algorithm);
        String duration = fields.first("duration");
        trial = duration == null ? trial : trial.lasting(WrittenEnd.time("duration", duration));
        String reason = fields.first("reason");
        trial = reason == null ? trial : trial.because(reason);
        return trials.start(policy, trial, showKeys);
    }

    Map<String, Object> report(String policy, boolean showKeys) {
        return trials.report(policy, showKeys);
    }

    Map<String, Object> end(String policy, boolean showKeys) {
        return trials.end(policy, showKeys);
    }
}
