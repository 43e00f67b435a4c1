package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.IOException;

/** A body that is read when it is asked for, so that a listener reads all of it at once, on the thread that sets it. */
abstract class ReadableStream extends ServletInputStream {

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
        try {
            listener.onDataAvailable();
            listener.onAllDataRead();
        } catch (IOException e) {
            listener.onError(e);
        }
    }
}
