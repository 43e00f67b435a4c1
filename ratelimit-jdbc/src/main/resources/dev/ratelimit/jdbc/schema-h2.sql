-- The tables of ratelimit-jdbc. Replace the name "ratelimit" everywhere if yours is another one.

-- a row for each policy and key that is not full
create table ratelimit (
  -- of a digest of the policy's name and the key
  id binary(16) not null primary key,
  -- which wrote the state, as LimitNotation writes them
  limits character varying not null,
  -- the states of the limits
  state binary large object not null,
  -- the microseconds since 1970 after which the row is as good as none
  idle_at bigint not null
);
create index ratelimit_idle on ratelimit (idle_at);

-- one row: the version of the table above; whoever removes idle rows locks it
create table ratelimit_schema (id int not null primary key, version int not null);
insert into ratelimit_schema (id, version) values (1, 1);
