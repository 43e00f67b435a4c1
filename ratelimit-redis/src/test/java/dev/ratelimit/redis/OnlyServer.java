package dev.ratelimit.redis;

/** Servers of which none redirects to another. */
final class OnlyServer implements ScriptExecutor.Servers {

    private final KeyNames names = new KeyNames("test");

    @Override
    public Node elsewhere(Redirect redirect) {
        throw new AssertionError("redirected to " + redirect);
    }

    @Override
    public Batch probe(Node node) {
        Batch batch = new Batch(0, 0);
        batch.add(
                Scene.WIDE.charge("probe"),
                Scene.WIDE.limits().stream().map(RedisLimits::of).toList(),
                names.probe(0));
        return batch;
    }

    @Override
    public void failing(Node node) {
        // there is no other
    }
}
