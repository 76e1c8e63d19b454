-- For wrk: the requests of a file, one JSON body a line, in a random order, spread over the nodes of a cluster.
-- wrk ... -s scatter.lua http://127.0.0.1:PORT -- PATH FILE PORT ...
-- Says, one line a figure: requests, errors, duration_us, p50_us, p99_us.
local threads = {}

function setup(thread)
    thread:set("index", #threads)
    table.insert(threads, thread)
end

function init(args)
    path, bodies, failed = args[1], {}, 0
    for line in io.lines(args[2]) do
        table.insert(bodies, line)
    end
    local port = args[3 + index % (#args - 2)]
    wrk.thread.addr = wrk.lookup("127.0.0.1", port)[1]
    math.randomseed(index + 1)
end

function request()
    return wrk.format("POST", path, {["Content-Type"] = "application/json"}, bodies[math.random(#bodies)])
end

function response(status, headers, body)
    if status ~= 200 or body:find('"failed":0', 1, true) == nil then
        failed = failed + 1
    end
end

function done(summary, latency)
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    for _, thread in ipairs(threads) do
        errors = errors + thread:get("failed")
    end
    print(string.format("requests %d\nerrors %d\nduration_us %d\np50_us %d\np99_us %d", summary.requests, errors, summary.duration,
        latency:percentile(50), latency:percentile(99)))
end
