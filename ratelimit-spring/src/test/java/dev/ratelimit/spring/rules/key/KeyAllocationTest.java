package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** Addresses and keys allocate only the key itself. */
class KeyAllocationTest {

    /** A header of 12 bytes and two longs, rounded up. */
    private static final long ADDRESS_BYTES = 32;

    /** The text of an address, and the key before its last part. */
    private static final long PARTS_BYTES = 192;

    private static final int ROUNDS = 200;
    private static final int CALLS = 1_000;

    private static final RequestContext.Sources SOURCES = RecordedRequest.sources(
            Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/orders/{id}")),
            false,
            "192.0.2.0/24",
            "10.0.0.0/8");

    /** A request that returns its values without allocating. */
    private static final class ThriftyRequest extends RecordedRequest {

        private static final List<String> FORWARDED_FOR = List.of("198.51.100.66, 2001:db8:0:1::7, 10.1.1.1");
        private static final PathContainer PATH = PathContainer.parsePath("/");

        @Override
        public PathContainer path() {
            return PATH;
        }

        @Override
        public String remoteAddress() {
            return "10.0.0.1";
        }

        @Override
        public List<String> headers(String name) {
            return name.equals("X-Forwarded-For") ? FORWARDED_FOR : List.of();
        }
    }

    /** The least that a call allocates in any round: while the compiler works, a round may allocate more. */
    private static long allocatedBy(Supplier<?> work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        Object last = null;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getThreadAllocatedBytes(thread);
            for (int i = 0; i < CALLS; i++) {
                last = work.get();
            }
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        assertThat(last).isNotNull();
        return least / CALLS;
    }

    private static RequestContext call(RecordedRequest request) {
        return new RequestContext(request, SOURCES);
    }

    private static BudgetKey key(String... parts) {
        return new KeyParser(new Resolvers(new DefaultListableBeanFactory())).parse(List.of(parts), MissingKey.IP);
    }

    @Test
    void findingAnAddress_allocatesTheAddressOnly() {
        ThriftyRequest request = new ThriftyRequest();
        BudgetKey shared = key("endpoint");

        long without = allocatedBy(() -> of(shared, call(request)));
        long with = allocatedBy(() -> {
            RequestContext call = call(request);
            call.address();
            return of(shared, call);
        });

        assertThat(call(request).addressText()).isEqualTo("2001:db8:0:1:0:0:0:7");
        assertThat(with - without).isEqualTo(ADDRESS_BYTES);
    }

    @Test
    void key_ofOneText_allocatesItselfOnly() {
        ThriftyRequest request = new ThriftyRequest();
        request.by("alice@example.org");
        RequestContext call = call(request);

        for (BudgetKey key : List.of(key("user"), key("principal"))) {
            assertThat(allocatedBy(() -> of(key, call))).as(key.toString()).isLessThanOrEqualTo(bytes(of(key, call)));
        }
    }

    @Test
    void key_ofTheEndpoint_allocatesNothing() {
        BudgetKey key = key("endpoint");
        RequestContext call = call(new ThriftyRequest());

        assertThat(allocatedBy(() -> of(key, call))).isZero();
    }

    @Test
    void key_ofAnAddressOrOfSeveralParts_allocatesLittleMore() {
        ThriftyRequest request = new ThriftyRequest();
        request.by("alice@example.org");
        RequestContext call = call(request);

        for (BudgetKey key : List.of(key("ip"), key("user", "endpoint"), key("ip", "method"))) {
            assertThat(allocatedBy(() -> of(key, call)))
                    .as(key.toString())
                    .isLessThanOrEqualTo(bytes(of(key, call)) + PARTS_BYTES);
        }
    }

    private static long bytes(String text) {
        return 24 + (16L + text.length() + 7) / 8 * 8;
    }

    private static String of(BudgetKey key, RequestContext call) {
        String made = key.of(call);
        if (made == null) {
            throw new AssertionError("no key");
        }
        return made;
    }
}
