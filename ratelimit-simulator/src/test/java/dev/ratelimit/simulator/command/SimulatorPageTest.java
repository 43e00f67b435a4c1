package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The examples of docs/simulator.md. */
class SimulatorPageTest {

    private final String page = Files.readString(Path.of("..", "docs", "simulator.md"));

    @TempDir
    Path directory;

    SimulatorPageTest() throws IOException {}

    private String block(String language) {
        return page.split("```" + language + "\n", 2)[1].split("```", 2)[0];
    }

    private CommandLineRun replay(String... more) throws IOException {
        Path config = Files.writeString(directory.resolve("application.yml"), block("yaml"));
        Path log = Files.writeString(directory.resolve("access.log"), block("log"));
        String[] arguments = new String[5 + more.length];
        System.arraycopy(
                new String[] {"replay", "--config", config.toString(), "--input", log.toString()}, 0, arguments, 0, 5);
        System.arraycopy(more, 0, arguments, 5, more.length);
        return CommandLineRun.of(arguments);
    }

    @Test
    void replay_printsWhatThePageShows() throws IOException {
        String shown = page.split("\\$ ratelimit-simulator replay --config application.yml --input access.log\n", 2)[1]
                .split("```", 2)[0];

        assertThat(replay().out()).isEqualTo(shown);
    }

    @Test
    void decisions_areThoseOfThePage() throws IOException {
        assertThat(replay("--decisions", "-").out()).contains(block("json"));
    }

    @Test
    void options_exist() {
        CommandLine commands = new CommandLine(Main.commands());
        List<String> written = Pattern.compile("ratelimit-simulator (\\w+)(.*)")
                .matcher(page.replace("\\\n", ""))
                .results()
                .flatMap(command -> Pattern.compile("--[a-z-]+")
                        .matcher(command.group(2))
                        .results()
                        .map(MatchResult::group)
                        .map(option -> command.group(1) + " " + option))
                .toList();

        assertThat(written).hasSizeGreaterThan(10).allSatisfy(option -> {
            CommandLine command = commands.getSubcommands().get(option.split(" ", -1)[0]);
            assertThat(Objects.requireNonNull(command).getCommandSpec().optionsMap())
                    .containsKey(option.split(" ", -1)[1]);
        });
    }

    @Test
    void optionsInTables_exist() {
        CommandLine commands = new CommandLine(Main.commands());
        CommandLine replay = Objects.requireNonNull(commands.getSubcommands().get("replay"));
        CommandLine suggest = Objects.requireNonNull(commands.getSubcommands().get("suggest"));

        assertThat(Pattern.compile("`(--[a-z-]+)").matcher(page).results().map(option -> option.group(1)))
                .hasSizeGreaterThan(15)
                .allSatisfy(option -> assertThat(
                                replay.getCommandSpec().optionsMap().containsKey(option)
                                        || suggest.getCommandSpec().optionsMap().containsKey(option))
                        .as(option)
                        .isTrue());
    }
}
