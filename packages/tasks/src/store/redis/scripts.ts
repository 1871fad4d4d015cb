/** Time by the clock of Redis, so that those of the workers do not matter. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Stores events under the next versions of a task, and tells those who follow. */
const APPEND = `
local function append(id, task, log, feed, nonce, bodies)
  local version = tonumber(redis.call('HGET', task, 'version') or '0')
  for index, body in ipairs(bodies) do
    redis.call('XADD', log, (version + index) .. '-0', 'at', now, 'body', body)
  end
  redis.call('HSET', task, 'version', version + #bodies, 'at', now)
  local last = redis.call('XREVRANGE', feed, '+', '-', 'COUNT', 1)
  local number = 1
  if last[1] then number = tonumber(string.match(last[1][1], '^(%d+)')) + 1 end
  redis.call('XADD', feed, 'MAXLEN', '~', 10000, string.format('%d-0', number),
    'task', id, 'version', version, 'at', now, 'nonce', nonce, 'bodies', '[' .. table.concat(bodies, ',') .. ']')
  return version + #bodies
end
`;

/**
 * Adds a task. A key that is known, and an id that is there because the answer to the first try was lost, give the task
 * that is there.
 *
 * KEYS task log feed order numbers keys; ARGV id key phase nonce data
 */
export const ADD = `${NOW}${APPEND}
local known = ARGV[2] ~= '' and redis.call('HGET', KEYS[6], ARGV[2])
if known then return {known} end
if redis.call('EXISTS', KEYS[1]) == 1 then return {ARGV[1]} end
local number = redis.call('INCR', KEYS[5])
redis.call('HSET', KEYS[1], 'phase', ARGV[3], 'fence', 0, 'lease', '', 'key', ARGV[2])
redis.call('ZADD', KEYS[4], number, ARGV[1])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[6], ARGV[2], ARGV[1]) end
append(ARGV[1], KEYS[1], KEYS[2], KEYS[3], ARGV[4],
  {'{"type":"task/added","data":{"number":' .. string.format('%d', number) .. ',' .. ARGV[5] .. '}'})
return {ARGV[1]}
`;

/**
 * Appends events that were decided from a version, under a lease or none. A write that is sent again because its answer
 * was lost is answered as the first time.
 *
 * KEYS task log feed leases; ARGV id expect lease fence write phase run fenceAfter nonce bodies...
 */
export const COMMIT = `${NOW}${APPEND}
local stored = redis.call('HMGET', KEYS[1], 'version', 'lease', 'fence', 'write', 'at')
if not stored[1] then return {'unknown'} end
if stored[4] == ARGV[5] then return {'ok', tonumber(stored[5])} end
if ARGV[3] ~= '' then
  local ends = redis.call('ZSCORE', KEYS[4], ARGV[1])
  if stored[2] ~= ARGV[3] or stored[3] ~= ARGV[4] or not ends or tonumber(ends) <= now then return {'fenced'} end
end
if stored[1] ~= ARGV[2] then return {'stale'} end
local bodies = {}
for index = 10, #ARGV do bodies[index - 9] = ARGV[index] end
if #bodies == 0 then return {'ok', now} end
append(ARGV[1], KEYS[1], KEYS[2], KEYS[3], ARGV[9], bodies)
redis.call('HSET', KEYS[1], 'phase', ARGV[6], 'write', ARGV[5],
  'fence', string.format('%d', math.max(tonumber(stored[3]), tonumber(ARGV[8]))))
if ARGV[7] == '' then
  redis.call('HSET', KEYS[1], 'lease', '')
  redis.call('ZREM', KEYS[4], ARGV[1])
end
return {'ok', now}
`;

/**
 * Leases a ready task; the fence rises. Answers with the fence, the version and the time, or nothing if the task is not
 * ready.
 *
 * KEYS task log feed leases; ARGV id worker milliseconds lease run nonce
 */
export const LEASE = `${NOW}${APPEND}
local stored = redis.call('HMGET', KEYS[1], 'phase', 'fence', 'lease', 'version', 'at')
if stored[3] == ARGV[4] then return {stored[2], stored[4], stored[5]} end
if stored[1] ~= 'ready' then return false end
local fence = tonumber(stored[2]) + 1
local body = cjson.encode({type = 'run/leased', data = {runId = ARGV[5], worker = ARGV[2], fence = fence, leaseId = ARGV[4]}})
local version = append(ARGV[1], KEYS[1], KEYS[2], KEYS[3], ARGV[6], {body})
redis.call('HSET', KEYS[1], 'phase', 'running', 'fence', fence, 'lease', ARGV[4])
redis.call('ZADD', KEYS[4], now + ARGV[3], ARGV[1])
return {fence, version, now}
`;

/** Extends a lease that is in force. KEYS task leases; ARGV id lease fence milliseconds */
export const RENEW = `${NOW}
local stored = redis.call('HMGET', KEYS[1], 'lease', 'fence')
local ends = redis.call('ZSCORE', KEYS[2], ARGV[1])
if stored[1] ~= ARGV[2] or stored[2] ~= ARGV[3] or not ends or tonumber(ends) <= now then return 0 end
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1])
return 1
`;

/** Raises the fence of every task whose lease is over, once per lease. KEYS leases; ARGV prefix of the tasks' keys */
export const SWEEP = `${NOW}
local lost = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  local task = ARGV[1] .. id
  local stored = redis.call('HMGET', task, 'lease', 'swept', 'fence')
  if not stored[3] then
    redis.call('ZREM', KEYS[1], id)
  else
    local fence = tonumber(stored[3])
    if stored[1] ~= stored[2] then
      fence = fence + 1
      redis.call('HSET', task, 'swept', stored[1], 'fence', fence)
    end
    lost[#lost + 1] = id
    lost[#lost + 1] = fence
  end
end
return lost
`;

/**
 * Forgets a task, but not that it was removed: a server that was away must not put it back. Only the last hundred
 * thousand are remembered.
 *
 * KEYS task log feed leases order keys removed; ARGV id nonce
 */
export const REMOVE = `${NOW}${APPEND}
local key = redis.call('HGET', KEYS[1], 'key')
if not key then return 0 end
append(ARGV[1], KEYS[1], KEYS[2], KEYS[3], ARGV[2], {})
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
if key ~= '' then redis.call('HDEL', KEYS[6], key) end
redis.call('ZADD', KEYS[7], now, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[7], 0, -100001)
return 1
`;

/**
 * Puts back what Redis has lost of a task, up to a version. A lease that was in force then is void, and its run is lost.
 * Answers 1 if something was missing, and -1 if the task was removed.
 *
 * KEYS task log feed leases order numbers keys removed; ARGV id number key phase run fence nonce (at body)...
 */
export const RESTORE = `${NOW}
if redis.call('ZSCORE', KEYS[8], ARGV[1]) then return -1 end
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
local given = (#ARGV - 7) / 2
if version >= given then return 0 end
redis.call('DEL', KEYS[2])
for index = 1, given do
  redis.call('XADD', KEYS[2], index .. '-0', 'at', ARGV[6 + index * 2], 'body', ARGV[7 + index * 2])
end
local fence = math.max(tonumber(redis.call('HGET', KEYS[1], 'fence') or '0'), tonumber(ARGV[6])) + 1
redis.call('HSET', KEYS[1], 'version', given, 'at', now, 'phase', ARGV[4], 'fence', fence, 'lease', ARGV[5],
  'swept', ARGV[5], 'key', ARGV[3], 'write', '')
redis.call('ZADD', KEYS[5], ARGV[2], ARGV[1])
if tonumber(redis.call('GET', KEYS[6]) or '0') < tonumber(ARGV[2]) then redis.call('SET', KEYS[6], ARGV[2]) end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[7], ARGV[3], ARGV[1]) end
if ARGV[5] ~= '' then redis.call('ZADD', KEYS[4], 0, ARGV[1]) else redis.call('ZREM', KEYS[4], ARGV[1]) end
local last = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
local number = 1
if last[1] then number = tonumber(string.match(last[1][1], '^(%d+)')) + 1 end
redis.call('XADD', KEYS[3], string.format('%d-0', number), 'task', ARGV[1], 'version', given, 'at', now, 'nonce', ARGV[7], 'bodies', '[]')
return 1
`;

/** Takes or keeps the right to schedule for a time. KEYS lead; ARGV who milliseconds */
export const LEAD = `
local leader = redis.call('GET', KEYS[1])
if leader and leader ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`;
