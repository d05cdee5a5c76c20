"""Descriptions of tables as other tools write them."""

from __future__ import annotations

from typing import Any

SDV_FIELDS: dict[str, Any] = {
    "fields": {
        "no": {"type": "id", "subtype": "string", "regex": "P[0-9]{4}"},
        "age": {"type": "numerical", "subtype": "integer"},
        "pay": {"type": "numerical", "subtype": "float"},
        "sex": {"type": "categorical"},
        "name": {"type": "categorical", "pii": True, "pii_category": "name"},
        "alive": {"type": "boolean"},
        "born": {"type": "datetime", "format": "%Y-%m-%d"},
    },
    "constraints": [],
    "primary_key": "no",
}

SDV_SINGLE: dict[str, Any] = {
    "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
    "primary_key": "email",
    "alternate_keys": ["card"],
    "columns": {
        "email": {"sdtype": "email", "pii": True},
        "card": {"sdtype": "numerical"},
        "rewards": {"sdtype": "boolean"},
        "room": {"sdtype": "categorical", "order": ["basic", "suite"]},
        "city": {"sdtype": "city", "pii": False},
        "street": {"sdtype": "street_address"},
        "fee": {"sdtype": "numerical", "min": 0.5, "max": 90},
        "nights": {"sdtype": "numerical", "computer_representation": "Int64", "max": 30},
        "arrival": {"sdtype": "datetime", "datetime_format": "%d %b %Y", "min": "05 Jan 2020"},
        "paid": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M:%S"},
        "extra": {"sdtype": "unknown"},
    },
}

SDV_TABLES: dict[str, Any] = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "hotels": {
            "primary_key": "hotel",
            "columns": {
                "hotel": {"sdtype": "id", "regex_format": "HID_[0-9]{3}"},
                "rating": {"sdtype": "numerical"},
            },
        },
        "guests": {
            "primary_key": "guest",
            "columns": {
                "guest": {"sdtype": "id"},
                "hotel": {"sdtype": "numerical"},
                "room": {"sdtype": "categorical", "order_by": "alphabetical"},
            },
        },
    },
    "relationships": [
        {
            "parent_table_name": "hotels",
            "parent_primary_key": "hotel",
            "child_table_name": "guests",
            "child_foreign_key": "hotel",
        }
    ],
}

# As SDV 2.0.0 wrote it for a data frame.
SDV_SECOND: dict[str, Any] = {
    "tables": {
        "patients": {
            "primary_key": "patient",
            "columns": {
                "patient": {"sdtype": "id"},
                "age": {
                    "sdtype": "numerical",
                    "range_is_nullable": False,
                    "range_min": 0,
                    "range_max": 101,
                    "decimal_places": 0,
                },
                "sex": {
                    "sdtype": "categorical",
                    "range_is_nullable": True,
                    "range_values": ["male", "female"],
                    "high_cardinality": False,
                },
                "admitted": {
                    "datetime_format": "%Y-%m-%d",
                    "sdtype": "datetime",
                    "range_is_nullable": False,
                    "range_min": "2019-01-12",
                    "range_max": "2025-12-28",
                },
            },
        }
    },
    "relationships": [],
    "METADATA_SPEC_VERSION": "V2",
}

DOMAIN: dict[str, Any] = {"age": 85, "sex": 2, "income>50K": 2}

CSVW: dict[str, Any] = {
    "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
    "url": "https://example.org/people.csv",
    "null": ["?", ""],
    "tableSchema": {
        "primaryKey": "no",
        "columns": [
            {"name": "no", "titles": "Number", "datatype": "string"},
            {"name": "sex", "titles": ["Sex", "Gender"], "datatype": {"format": "^(f|m)$"}},
            {
                "name": "age",
                "titles": {"en": "Age"},
                "required": True,
                "datatype": {"base": "integer", "minimum": "0", "maxExclusive": 120},
            },
            {"name": "visits", "datatype": "nonNegativeInteger"},
            {"name": "pay", "datatype": {"base": "decimal", "minimum": 0.5, "maximum": 9}},
            {
                "name": "born",
                "datatype": {"base": "date", "format": "d/M/yyyy", "minExclusive": "1900-01-01"},
                "dc:description": "day of birth",
            },
            {"name": "seen", "datatype": {"base": "dateTime", "maximum": "2020-01-01T10:00:00Z"}},
            {"name": "alive", "datatype": {"base": "boolean", "format": "Y|N"}, "null": "-"},
            {"name": "state", "datatype": {"base": "boolean", "format": "on|off"}},
            {"name": "tags", "separator": ";"},
            {"name": "code", "propertyUrl": "https://example.org/codes"},
            {"name": "made", "virtual": True},
        ],
    },
}

CSVW_GROUP: dict[str, Any] = {
    "@context": "http://www.w3.org/ns/csvw",
    "tables": [
        {"url": "a/people.csv", "tableSchema": {"columns": [{"titles": "x", "datatype": "int"}]}},
        {"url": "codes.csv", "tableSchema": {"columns": [{"name": "y"}, {}]}},
    ],
}

FRICTIONLESS = {
    "primaryKey": "who",
    "missingValues": ["", "-99"],
    "fields": [
        {"name": "who", "type": "integer"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": "120"}},
        {"name": "sex", "constraints": {"enum": ["f", "m"], "required": True}},
        {"name": "seen", "type": "date", "description": "first visit"},
        {"name": "shape", "type": "geojson"},
        {"name": "smoker", "type": "boolean", "constraints": {"required": True}},
    ],
}

REDCAP = """\
Variable / Field Name,Form Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels",\
Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,Identifier?
record,f,text,Record,,,,,
sex,f,radio,Sex,"1, Female | 2, Male",,,,
age,f,text,Age,,integer,0,120,
seen,f,text,Seen,,date_ymd,2020-01-01,,
mail,f,text,Mail,,email,,,y
ills,f,checkbox,Ills,"1, Asthma | 2, Gout",,,,
well,f,yesno,Well,,,,,
more,f,notes,More,,,,,
"""

DDI = """<?xml version="1.0"?>
<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
 <var name="sex" intrvl="discrete"><labl>Sex</labl>
  <catgry><catValu>1</catValu><labl>male</labl><catStat>77</catStat></catgry>
  <catgry><catValu>2</catValu></catgry>
  <catgry missing="Y"><catValu>9</catValu></catgry><varFormat type="numeric"/></var>
 <var name="age" intrvl="contin" dcml="0"><valrng><range min="0" max="120"/></valrng>
  <sumStat type="max">97</sumStat><varFormat type="numeric"/></var>
 <var name="pay" dcml="2"><varFormat type="numeric"/></var>
 <var name="town"><varFormat type="character"/></var>
 <var name="other"/>
</dataDscr></codeBook>
"""
