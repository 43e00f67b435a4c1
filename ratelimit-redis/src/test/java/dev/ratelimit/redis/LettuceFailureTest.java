package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LettuceFailureTest {

    private static StoreFailure.Reason reason(Throwable thrown) {
        return LettuceFailure.of(thrown).reason();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            WRONG_TYPE | WRONGTYPE Operation against a key holding the wrong kind of value script: f, on @user_script:43.
            WRONG_TYPE | ERR Error running script (call to f_1): @user_script:43: @user_script: 43: -WRONGTYPE Operation
            OOM        | OOM command not allowed when used memory > 'maxmemory'. script: f, on @user_script:95.
            OOM        | ERR Error running script (call to f_1): @user_script:95: -OOM command not allowed
            UNWRITABLE | MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.
            UNWRITABLE | ERR Error running script (call to f_1): @user_script:95: -NOREPLICAS Not enough good replicas to write.
            READONLY   | ERR Error running script (call to f_1): @user_script:95: -READONLY You can't write against a read only replica.
            READONLY   | READONLY You can't write against a read only replica. script: f, on @user_script:95.
            AUTH       | NOPERM this user has no permissions to run the 'evalsha' command
            AUTH       | NOAUTH Authentication required.
            AUTH       | WRONGPASS invalid username-password pair or user is disabled.
            AUTH       | ERR Error running script: The user executing the script can't run this command or subcommand
            AUTH       | ERR ACL failure in script: User limiter has no permissions to run the 'psetex' command script: 8960, on @user_script:40.
            READONLY   | ERR Script attempted to execute a write command while the cluster is down and readonly
            CLUSTER    | MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.
            CLUSTER    | CLUSTERDOWN Hash slot not served
            MOVING     | TRYAGAIN Multiple keys request during rehashing of slot
            SCRIPT     | ERR user_script:43: data string too short script: f, on @user_script:43.
            SCRIPT     | ERR Error running script (call to f_1): @user_script:43: user_script:43: data string too short
            SCRIPT     | ERR user_script:39: too many results to unpack script: f, on @user_script:39.
            ERROR      | ERR Unknown Redis command called from script script: f, on @user_script:39.
            ERROR      | ERR Error running script (call to f_1): @user_script: 39: Unknown Redis command called from Lua script
            ERROR      | ERR unknown command
            """)
    void of_replies_areNamed(String reason, String reply) {
        assertThat(reason(new RedisCommandExecutionException(reply))).hasToString(reason);
    }

    @Test
    void of_exceptions_areNamed() {
        assertThat(reason(new RedisReadOnlyException("x"))).isEqualTo(RedisStoreFailure.READONLY);
        assertThat(reason(new RedisLoadingException("x"))).isEqualTo(RedisStoreFailure.LOADING);
        assertThat(reason(new RedisBusyException("x"))).isEqualTo(RedisStoreFailure.BUSY);
        assertThat(reason(new RedisCommandTimeoutException("x"))).isEqualTo(RemoteStoreFailure.TIMEOUT);
        assertThat(reason(new TimeoutException())).isEqualTo(RemoteStoreFailure.TIMEOUT);
        assertThat(reason(new RedisException("Connection closed"))).isEqualTo(RemoteStoreFailure.CONNECTION);
    }

    @Test
    void of_connectionThatTheServerRefused_isWhatItReplied() {
        Throwable refused = new CompletionException(new RedisConnectionException(
                "Unable to connect", new RedisCommandExecutionException("WRONGPASS invalid username-password pair")));

        assertThat(LettuceFailure.of(refused))
                .returns(RedisStoreFailure.AUTH, StoreFailure::reason)
                .hasMessage("WRONGPASS invalid username-password pair");
    }
}
