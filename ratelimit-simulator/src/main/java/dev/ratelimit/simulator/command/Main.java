package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.config.ConfigurationMistakeException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IVersionProvider;

/** The entry point of the command line. */
@Command(
        name = "ratelimit-simulator",
        description = "Tries rate limits out on recorded traffic.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = {ReplayCommand.class, SuggestCommand.class})
public final class Main {

    /** The result is not what was asked for: with --strict, a log that could not be read as a whole. */
    static final int UNMET = 1;

    /** The version of the jar. */
    static final class Version implements IVersionProvider {

        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"ratelimit-simulator " + (version == null ? "(not in a jar)" : version)};
        }
    }

    private Main() {}

    /** The commands, for tests. */
    static Main commands() {
        return new Main();
    }

    /** Runs a command, and exits with its code. */
    public static void main(String[] arguments) {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = run(out, err, arguments);
        System.exit(code);
    }

    /**
     * Runs a command.
     *
     * @param out gets the result
     * @param err gets messages
     * @return the exit code: 0, 1 if the result is not what was asked for, or 2 if the command could not run
     */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        CommandLine line = new CommandLine(new Main())
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUnmatchedOptionsAllowedAsOptionParameters(false)
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    err.println(text(failure));
                    return ExitCode.USAGE;
                });
        int code = line.execute(arguments);
        if (out.checkError()) {
            err.println("standard output cannot be written");
            code = ExitCode.USAGE;
        }
        err.flush();
        return code;
    }

    private static String text(Exception failure) throws Exception {
        Exception cause = failure instanceof UncheckedIOException io ? io.getCause() : failure;
        if (cause instanceof ConfigurationMistakeException || cause instanceof IllegalArgumentException) {
            return String.valueOf(cause.getMessage());
        }
        if (cause instanceof NoSuchFileException missing) {
            return missing.getFile() + " does not exist";
        }
        if (cause instanceof FileSystemException file) {
            return file.getFile() + ": " + file.getReason();
        }
        if (cause instanceof IOException) {
            return String.valueOf(cause.getMessage());
        }
        throw failure;
    }
}
