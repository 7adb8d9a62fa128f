// Writes and reads HDR logs with the JavaScript library; see compare_hdr.py.
//
//   node peer.js write VALUES DIGITS LOWEST OUT.hlog
//   node peer.js read IN.hlog

const fs = require("fs");
const hdr = require("hdr-histogram-js");

const HIGHEST = 3_600_000_000_000;

function built(lowest, digits) {
  return hdr.build({
    lowestDiscernibleValue: lowest,
    highestTrackableValue: HIGHEST,
    numberOfSignificantValueDigits: digits,
    bitBucketSize: 64,
    useWebAssembly: false,
  });
}

function write(values, digits, lowest, out) {
  let text = "";
  const writer = new hdr.HistogramLogWriter((part) => (text += part));
  writer.outputComment("[Logged by the JavaScript library]");
  writer.outputLogFormatVersion();
  writer.outputStartTime(1700000000000);
  writer.outputLegend();
  fs.readFileSync(values, "utf8").trimEnd().split("\n").forEach((line, second) => {
    const [tag, ...recorded] = line.split(" ");
    const interval = built(lowest, digits);
    recorded.forEach((value) => interval.recordValue(Number(value)));
    if (tag !== "-") interval.tag = tag;
    writer.outputIntervalHistogram(interval, second, second + 1, 1e6);
  });
  fs.writeFileSync(out, text);
}

function read(file) {
  const reader = new hdr.HistogramLogReader(fs.readFileSync(file, "utf8"), 64, false);
  const all = built(1, 3);
  let sum = 0;
  for (let next; (next = reader.nextIntervalHistogram()) !== null; ) {
    sum += next.mean * next.totalCount;
    all.add(next);
  }
  const quantiles = [50, 90, 95, 99, 99.9].map((percent) => all.getValueAtPercentile(percent));
  console.log(JSON.stringify({ count: all.totalCount, sum, quantiles, max: all.maxValue }));
}

const [kind, ...rest] = process.argv.slice(2);
if (kind === "write") write(rest[0], Number(rest[1]), Number(rest[2]), rest[3]);
else read(rest[0]);
