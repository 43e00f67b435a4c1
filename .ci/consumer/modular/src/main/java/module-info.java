module com.example.modular {
    requires dev.ratelimit;
}
