package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.redis.Seam;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a decision says about one limit of a charge.
 *
 * @param key its name on servers
 * @param limit the limit, without its penalty
 * @param status {@code null} if the decision does not mention it
 */
record Told(String key, LimitAlgorithm limit, @Nullable LimitStatus status) {

    /** What a decision says about each limit of one of its charges. */
    static List<Told> of(Decision decision, Charge charge) {
        List<LimitStatus> statuses = decision.limits().stream()
                .filter(status -> status.charge().sameBudget(charge))
                .toList();
        List<String> keys = Seam.keys(Books.PREFIX, charge);
        List<Told> all = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            LimitAlgorithm limit = charge.policy().algorithms().get(i);
            // of a refusal that is repeated, only limits that refuse are told
            LimitStatus status = statuses.size() == keys.size() ? statuses.get(i) : find(statuses, limit);
            all.add(new Told(keys.get(i), limit instanceof Penalty penalty ? penalty.limit() : limit, status));
        }
        return all;
    }

    private static @Nullable LimitStatus find(List<LimitStatus> statuses, LimitAlgorithm limit) {
        return statuses.stream()
                .filter(status -> status.limit().equals(limit))
                .findFirst()
                .orElse(null);
    }
}
