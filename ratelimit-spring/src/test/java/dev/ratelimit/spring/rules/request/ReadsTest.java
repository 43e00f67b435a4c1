package dev.ratelimit.spring.rules.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.Reads.Fact;
import org.junit.jupiter.api.Test;

class ReadsTest {

    private final Reads header = Reads.of(Fact.HEADER, "X-Tenant");
    private final Reads session = Reads.of(Fact.SESSION);

    @Test
    void and_others_areBoth() {
        Reads both = header.and(session).and(Reads.of(Fact.HEADER, "x-key"));

        assertThat(both.include(Fact.SESSION)).isTrue();
        assertThat(both.includeAll(Fact.HEADER)).isFalse();
        assertThat(both.names(Fact.HEADER)).containsExactly("x-key", "x-tenant");
        assertThat(both).hasToString("header x-key, header x-tenant, session");
        assertThat(header.names(Fact.HEADER)).containsExactly("x-tenant");
    }

    @Test
    void and_partOfTheOther_isTheOther() {
        Reads both = header.and(session);

        assertThat(both.and(session)).isSameAs(both);
        assertThat(session.and(both)).isSameAs(both);
        assertThat(Reads.NOTHING.and(both)).isSameAs(both);
        assertThat(both).isEqualTo(session.and(header)).hasSameHashCodeAs(session.and(header));
    }

    @Test
    void and_anyName_includesThoseThatAreKnown() {
        Reads any = Reads.of(Fact.HEADER);

        assertThat(any.and(header)).isSameAs(any);
        assertThat(header.and(session).and(any)).isEqualTo(any.and(session));
        assertThat(any.and(header).includeAll(Fact.HEADER)).isTrue();
        assertThat(any.names(Fact.HEADER)).isEmpty();
    }

    @Test
    void of_nameOfAFactWithoutNames_isTheFact() {
        assertThat(Reads.of(Fact.SESSION, "id")).isEqualTo(session);
    }

    @Test
    void anything_leavesOutWhatIsNotOfTheRequest() {
        for (Fact fact : Fact.values()) {
            assertThat(Reads.ANYTHING.include(fact))
                    .as("%s", fact)
                    .isEqualTo(fact != Fact.BEAN && fact != Fact.ARGUMENT);
        }
    }
}
