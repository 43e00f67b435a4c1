package dev.ratelimit.jdbc;

class H2StoreTest extends SqlStoreContract {

    @Override
    Database start() {
        return Database.h2();
    }
}
