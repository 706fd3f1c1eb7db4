/** The table of players with their ratings. */
import { useSignal } from "@preact/signals";
import type { EntrantRating } from "../../api/types";
import { formatCount, formatNumber, fullPrecision } from "../../ui/numbers";
import { sortedBy, type Sort } from "../../ui/sorting";
import { Table, type Column } from "../../ui/Table";
import { roleColor } from "./curves";
import { playerName, playerText } from "./matrix";
import { latestPolicies, rankedPlayers } from "./players";

interface Props {
  players: readonly EntrantRating[];
  roles: readonly string[];
}

export function Players({ players, roles }: Props) {
  const sort = useSignal<Sort>({ key: "rating", descending: true });
  const latest = new Set(latestPolicies(players));
  const columns: Column<EntrantRating>[] = [
    {
      key: "role",
      label: "role",
      sortValue: (player) => player.role,
      cell: (player) => (
        <span class="selfplay-role">
          <span class="selfplay-swatch" style={{ background: roleColor(player.role, roles) }} />
          {player.role}
        </span>
      ),
    },
    {
      key: "name",
      label: "player",
      sortValue: (player) => player.name,
      cell: (player) => (
        <span title={playerText(player.name)}>
          {playerName(player.name)} {latest.has(player) && <span class="badge">latest</span>}
        </span>
      ),
    },
    {
      key: "rating",
      label: "rating",
      title: "Elo points, relative to the scripted opponent `medium`, which is 1000; 400 points more are odds of ten to one.",
      align: "right",
      descendingFirst: true,
      sortValue: (player) => player.rating,
      cell: (player) => (
        <span class="num" title={fullPrecision(player.rating)}>
          {formatNumber(player.rating)}
        </span>
      ),
    },
    {
      key: "interval",
      label: "95 % interval",
      align: "right",
      cell: (player) =>
        player.error === 0 ? (
          <span class="muted">fixed</span>
        ) : (
          <span class="num muted" title={`${fullPrecision(player.low)} to ${fullPrecision(player.high)}`}>
            [{formatNumber(player.low)}, {formatNumber(player.high)}]
          </span>
        ),
    },
    {
      key: "matches",
      label: "matches",
      align: "right",
      descendingFirst: true,
      sortValue: (player) => player.matches,
      cell: (player) => <span class="num">{formatCount(player.matches)}</span>,
    },
  ];
  const value = columns.find((column) => column.key === sort.value.key)?.sortValue;
  const ranked = rankedPlayers(players);
  return (
    <Table
      label="Ratings of the players"
      columns={columns}
      rows={value ? sortedBy(ranked, value, sort.value.descending) : ranked}
      rowKey={(player) => `${player.role} ${player.name}`}
      sort={sort.value}
      onSort={(next) => (sort.value = next)}
      empty="No match has been rated yet: ratings need an evaluation and a checkpoint."
    />
  );
}
