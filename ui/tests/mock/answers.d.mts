import type { Dataset } from "./dataset.mjs";
import type { TracksReply } from "../../src/api_types";
export function tracks(dataset: Dataset): TracksReply;
