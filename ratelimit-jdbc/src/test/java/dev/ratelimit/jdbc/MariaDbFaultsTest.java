package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
@Tag("nightly")
class MariaDbFaultsTest extends FaultsContract {

    @Override
    TestDatabase database() {
        return TestDatabase.mariadb();
    }
}
