package dev.ratelimit.spring.rules.request;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;

/**
 * What rules read of requests, so that a web stack fetches nothing else, and a simulator can tell what a log lacks. All
 * rules also see the method, the path and the names of the headers, which are listed only if a value depends on them.
 * Immutable.
 */
public final class Reads {

    /** What a request, the call of a method or the application says. */
    public enum Fact {
        /** The method. */
        METHOD,
        /** The URL without the query. */
        URL,
        /** The handler that the request leads to. */
        ENDPOINT,
        /** The route that serves the request. */
        ROUTE,
        /** Variables in the path of the endpoint, by name. */
        PATH_VARIABLE,
        /** Parameters of the query, by name. */
        QUERY,
        /** Parameters of the query or of a form, by name; they read the body if it is a form. */
        PARAMETER,
        /** Headers, by name in lower case. */
        HEADER,
        /** Cookies, by name. */
        COOKIE,
        /** The address of the client. */
        ADDRESS,
        /** The name of the caller. */
        USER,
        /** The caller and its roles, not only its name. */
        PRINCIPAL,
        /** Claims of the caller's token, by name. */
        CLAIM,
        /** The id of the session. */
        SESSION,
        /** Attributes that filters have set, by name. */
        ATTRIBUTE,
        /** Beans that resolve keys or plans, by name. They get the whole request, and what they read is unknown. */
        BEAN,
        /** Arguments of the called method, by name. */
        ARGUMENT;

        private static final Set<Fact> SENT = EnumSet.of(METHOD, URL, QUERY, PARAMETER, HEADER, COOKIE);
        private static final Set<Fact> NAMED =
                EnumSet.of(PATH_VARIABLE, QUERY, PARAMETER, HEADER, COOKIE, CLAIM, ATTRIBUTE, BEAN, ARGUMENT);
        private static final Set<Fact> FETCHED = EnumSet.of(PARAMETER, USER, PRINCIPAL, CLAIM, SESSION, BEAN);
    }

    /** Nothing that differs between requests. */
    public static final Reads NOTHING = new Reads(EnumSet.noneOf(Fact.class), Map.of());

    /** Possibly everything, because what is read is not known before. */
    public static final Reads ANYTHING =
            new Reads(EnumSet.complementOf(EnumSet.of(Fact.BEAN, Fact.ARGUMENT)), Map.of());

    private final Set<Fact> whole;
    private final Map<Fact, Set<String>> named;

    private Reads(Set<Fact> whole, Map<Fact, Set<String>> named) {
        this.whole = whole;
        this.named = named;
    }

    /** A fact as a whole; if it consists of named values, any of them. */
    public static Reads of(Fact fact) {
        return new Reads(EnumSet.of(fact), Map.of());
    }

    /** One of the values that a fact consists of; the fact as a whole if it has no names. */
    public static Reads of(Fact fact, String name) {
        if (!Fact.NAMED.contains(fact)) {
            return of(fact);
        }
        String same = fact == Fact.HEADER ? name.toLowerCase(Locale.ROOT) : name;
        return new Reads(EnumSet.noneOf(Fact.class), Map.of(fact, Set.of(same)));
    }

    /** What both read. */
    public Reads and(Reads other) {
        if (other.isPartOf(this)) {
            return this;
        }
        if (isPartOf(other)) {
            return other;
        }
        Set<Fact> both = EnumSet.noneOf(Fact.class);
        both.addAll(whole);
        both.addAll(other.whole);
        Map<Fact, Set<String>> names = new EnumMap<>(Fact.class);
        named.forEach((fact, own) -> names.put(fact, new TreeSet<>(own)));
        other.named.forEach((fact, own) ->
                names.computeIfAbsent(fact, none -> new TreeSet<>()).addAll(own));
        names.keySet().removeAll(both);
        return new Reads(both, names);
    }

    private boolean isPartOf(Reads other) {
        return other.whole.containsAll(whole)
                && named.entrySet().stream()
                        .allMatch(own -> other.includeAll(own.getKey())
                                || other.names(own.getKey()).containsAll(own.getValue()));
    }

    /** The part of it that a web stack may not have at once, so that it has to be fetched: the caller, session, form and beans. */
    public Reads toFetch() {
        Set<Fact> facts = EnumSet.copyOf(Fact.FETCHED);
        facts.retainAll(whole);
        Map<Fact, Set<String>> names = new EnumMap<>(Fact.class);
        names.putAll(named);
        names.keySet().retainAll(Fact.FETCHED);
        return new Reads(facts, names);
    }

    /** Whether the fact or a value of it is read. */
    public boolean include(Fact fact) {
        return whole.contains(fact) || named.containsKey(fact);
    }

    /** Whether any value of the fact may be read, also those whose names are not known before. */
    public boolean includeAll(Fact fact) {
        return whole.contains(fact);
    }

    /** The names of the values that are read; empty if any of them may be read. */
    public Set<String> names(Fact fact) {
        return Collections.unmodifiableSet(named.getOrDefault(fact, Set.of()));
    }

    /** Whether the caller is read: its name or more. */
    public boolean includeCaller() {
        return include(Fact.USER) || include(Fact.PRINCIPAL) || include(Fact.CLAIM);
    }

    /** Whether the handler or the route must be known. */
    public boolean includeEndpoint() {
        return include(Fact.ENDPOINT) || include(Fact.PATH_VARIABLE) || include(Fact.ROUTE);
    }

    /** Whether nothing is read. */
    public boolean areNone() {
        return whole.isEmpty() && named.isEmpty();
    }

    /** Whether nothing is read but what clients choose. */
    public boolean areChosenByClients() {
        return Fact.SENT.containsAll(whole) && Fact.SENT.containsAll(named.keySet());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Reads same && same.whole.equals(whole) && same.named.equals(named);
    }

    @Override
    public int hashCode() {
        return 31 * whole.hashCode() + named.hashCode();
    }

    /** For messages, such as {@code header x-tenant, session}; empty for nothing. */
    @Override
    public String toString() {
        StringJoiner all = new StringJoiner(", ");
        for (Fact fact : Fact.values()) {
            String written = fact.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            if (includeAll(fact)) {
                all.add(written);
            } else {
                names(fact).forEach(name -> all.add(written + " " + name));
            }
        }
        return all.toString();
    }
}
