package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A bean that resolves keys or plans.
 *
 * @param bean its name
 * @param asked asks the bean, unless the web stack has done so; {@code null} also if it fails
 */
public record Resolver(String bean, Function<RequestContext, @Nullable String> asked) {

    /** The key or the plan of a request; {@code null} if it has none. */
    public @Nullable String valueOf(RequestContext context) {
        Map<String, @Nullable String> before = context.request().resolved();
        // once: a second answer may be another one, and each may take long
        return before.containsKey(bean) ? before.get(bean) : context.answerOf(this, () -> asked.apply(context));
    }

    /** What the value depends on. */
    public Reads reads() {
        return Reads.of(Fact.BEAN, bean);
    }
}
