package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
@Tag("nightly")
class PostgresqlFaultsTest extends FaultsContract {

    @Override
    TestDatabase database() {
        return TestDatabase.postgresql();
    }
}
