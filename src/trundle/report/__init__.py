"""What a person asks about an evolution: change tables, statistics, suggestions, maps, explanations.

Every report is a function from values to a record, with functions that turn the record into text and into
plain JSON values. Reports read off the lineages and plans of `trundle.evolution`, never decide anew.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.report._diff import (
        Comparison,
        PropertyChange,
        TypeComparison,
        compare,
        comparison_data,
        comparison_text,
        property_changes,
    )
    from trundle.report._diff_terminal import DiffLine, comparison_lines
    from trundle.report._enums import EnumChange, EnumLife, EnumStage, change_text
    from trundle.report._errors import ReportError
    from trundle.report._explain import (
        Explanation,
        PropertyLife,
        PropertyLine,
        Stage,
        TypeLife,
        Way,
        explain,
    )
    from trundle.report._explain_text import explanation_data, explanation_text
    from trundle.report._handlers import Handler, Handling
    from trundle.report._map import (
        MappedVersion,
        ResourceMap,
        as_released,
        find_resource,
        version_map,
        version_map_data,
        version_map_mermaid,
        version_map_text,
    )
    from trundle.report._map_svg import version_map_svg
    from trundle.report._matched_properties import ChangeKind, Meeting, meetings
    from trundle.report._reached import keys_in, reached
    from trundle.report._spelling import spell
    from trundle.report._stats import Statistics, statistics, statistics_data, statistics_text
    from trundle.report._suggest import suggest
    from trundle.report._suggestion import Suggestion
    from trundle.report._suggestion_text import suggestions_data, suggestions_text
    from trundle.report._table import table
    from trundle.report._taken_up import taken_up
    from trundle.report._terminal import folded, wrap_words, wrapped
    from trundle.report._trace import LeftValue, Trace, TracedValue, trace
    from trundle.report._trace_parts import Cause, Leg, json_path
    from trundle.report._trace_text import trace_data, trace_text
    from trundle.report._walk import children, lineages

__all__ = [
    "Cause",
    "ChangeKind",
    "Comparison",
    "DiffLine",
    "EnumChange",
    "EnumLife",
    "EnumStage",
    "Explanation",
    "Handler",
    "Handling",
    "LeftValue",
    "Leg",
    "MappedVersion",
    "Meeting",
    "PropertyChange",
    "PropertyLife",
    "PropertyLine",
    "ReportError",
    "ResourceMap",
    "Stage",
    "Statistics",
    "Suggestion",
    "Trace",
    "TracedValue",
    "TypeComparison",
    "TypeLife",
    "Way",
    "as_released",
    "change_text",
    "children",
    "compare",
    "comparison_data",
    "comparison_lines",
    "comparison_text",
    "explain",
    "explanation_data",
    "explanation_text",
    "find_resource",
    "folded",
    "json_path",
    "keys_in",
    "lineages",
    "meetings",
    "property_changes",
    "reached",
    "spell",
    "statistics",
    "statistics_data",
    "statistics_text",
    "suggest",
    "suggestions_data",
    "suggestions_text",
    "table",
    "taken_up",
    "trace",
    "trace_data",
    "trace_text",
    "version_map",
    "version_map_data",
    "version_map_mermaid",
    "version_map_svg",
    "version_map_text",
    "wrap_words",
    "wrapped",
]

on_demand(__name__)
