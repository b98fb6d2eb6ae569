// Lanes of queries on the timeline: made by the server, shown first below their rank.
import { laneQueries, type LaneQuery, parseQueries, queriesText, withoutQuery } from "../state/query_lanes";
import type { Track } from "../state/tracks";
import type { TimelineModel } from "./model";
import { complain } from "./selecting";

/** Shows the lanes of the queries in an address, and no others. A query that fails is left out with a word about it. */
export async function restoreQueries(model: TimelineModel, text: string): Promise<void> {
  const wanted = parseQueries(text);
  if (queriesText(wanted) === queriesText([...new Set(model.queryTracks.map(({ query }) => query!))])) {
    laneQueries.value = wanted;
    return;
  }
  const shown: LaneQuery[] = [];
  const tracks: Track[] = [];
  for (const query of wanted) {
    try {
      for (const lane of (await model.ds.sqlLanes(query)).lanes)
        tracks.push({ ...lane, id: lane.track, kind: "slices", level: 1, children: [], query });
      shown.push(query);
    } catch (error) {
      complain(error);
    }
  }
  laneQueries.value = shown;
  model.showQueryTracks(tracks);
}

export function dropQuery(model: TimelineModel, query: LaneQuery): void {
  laneQueries.value = withoutQuery(laneQueries.value, query);
  const gone = new Set(model.queryTracks.filter((track) => track.query === query).map((track) => track.path));
  model.showQueryTracks(model.queryTracks.filter((track) => !gone.has(track.path)));
  model.changeLanes({ pinned: model.lanes.value.pinned.filter((path) => !gone.has(path)) });
}
