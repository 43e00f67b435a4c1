package dev.ratelimit.redis.server;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.internal.ExceptionFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.Prototype;
import org.luaj.vm2.compiler.LuaC;

/** A script as servers run it, compiled once for all of them. Immutable. */
record CompiledScript(String sha, Prototype code) {

    /** Redis's name for a script, which its errors contain. */
    private static final String NAME = "user_script";

    private static final Pattern FAILURE = Pattern.compile(NAME + ":(\\d+) (.*)", Pattern.DOTALL);

    private static final Map<String, CompiledScript> BY_TEXT = new ConcurrentHashMap<>();

    /** An error that a command replies with, whose text begins with its code. */
    static final class CommandError extends LuaError {

        private static final long serialVersionUID = 1L;

        CommandError(String text) {
            super(text);
        }
    }

    /** Compiles this text, or finds it among those compiled before. */
    static CompiledScript of(String text) {
        CompiledScript known = BY_TEXT.get(text);
        return known != null ? known : BY_TEXT.computeIfAbsent(text, CompiledScript::compile);
    }

    private static CompiledScript compile(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try {
            return new CompiledScript(sha(bytes), LuaC.instance.compile(new ByteArrayInputStream(bytes), NAME));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The SHA-1 in hexadecimal. */
    static String sha(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-1 is not available", e);
        }
    }

    /** What a client throws for an error that ended this script. */
    RedisCommandExecutionException failure(LuaError error) {
        // no line: a library function failed to which the script had passed control for good, which Redis can locate
        Matcher failure = FAILURE.matcher(String.valueOf(error.getMessage()));
        String line = failure.matches() ? failure.group(1) : "0";
        String message = failure.matches() ? failure.group(2) : error.getMessage();
        String text = error instanceof CommandError ? message : "ERR " + NAME + ":" + line + ": " + message;
        return ExceptionFactory.createExecutionException(text + " script: " + sha + ", on @" + NAME + ":" + line + ".");
    }
}
