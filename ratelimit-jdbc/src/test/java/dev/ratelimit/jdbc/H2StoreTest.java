package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("slow")
class H2StoreTest extends SqlStoreContract {

    @Override
    TestDatabase start() {
        return TestDatabase.h2();
    }
}
