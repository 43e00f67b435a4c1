package dev.ratelimit.redis;

/**
 * A script with its keys and arguments.
 *
 * @param whole whether to send the script's text, and not only its digest
 * @param asking whether the server is to run it although it is only importing the slot
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Call(Script script, boolean whole, boolean asking, String[] keys, byte[][] arguments) {

    /** The same call, with the script's text. */
    Call withText() {
        return new Call(script, true, asking, keys, arguments);
    }

    /** The same call by the script's digest, to a server that another one redirected it to. */
    Call to(Redirect redirect) {
        return new Call(script, false, redirect.asking(), keys, arguments);
    }
}
