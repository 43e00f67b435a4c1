package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("slow")
class H2FaultsTest extends FaultsContract {

    @Override
    TestDatabase database() {
        return TestDatabase.h2();
    }
}
