package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.replay.Clients;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.report.HtmlReport;
import dev.ratelimit.simulator.report.ReportData;
import dev.ratelimit.simulator.statistics.CandidateLimits;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A replay for a report: with other limits, and with clients that send refused requests again, in the same pass. */
final class ReportRun {

    private final Traffic traffic;
    private final ReplayStatistics statistics;
    private final KeyText keys;
    private final CandidateLimits candidates;
    private final Map<Clients, ReplayStatistics> clients = new LinkedHashMap<>();

    ReportRun(Traffic traffic, ReplayStatistics statistics, KeyText keys) {
        this.traffic = traffic;
        this.statistics = statistics;
        this.keys = keys;
        this.candidates = new CandidateLimits(traffic.limits());
    }

    void run(List<ReplayObserver> observers) throws IOException {
        List<ReplayObserver> all = new ArrayList<>(observers);
        all.add(candidates);
        List<Replay> replays = new ArrayList<>();
        replays.add(new Replay(traffic.limits(), traffic.stages(), all));
        for (Clients each : List.of(Clients.OBEYING, Clients.IGNORING)) {
            ReplayStatistics own = new ReplayStatistics(traffic.limits().rules().policiesInForce());
            clients.put(each, own);
            replays.add(new Replay(traffic.limits(), traffic.stages(), List.of(own), each));
        }
        for (LoggedRequest request = traffic.log().next();
                request != null;
                request = traffic.log().next()) {
            for (Replay replay : replays) {
                replay.accept(request);
            }
        }
        replays.forEach(Replay::end);
    }

    void write(String title, Writer to) throws IOException {
        HtmlReport.write(
                new ReportData(
                        title,
                        traffic.limits(),
                        traffic.log().summary(),
                        statistics,
                        candidates.curves(),
                        clients,
                        Notes.of(traffic, statistics),
                        keys),
                to);
    }
}
