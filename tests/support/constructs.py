"""A project with many constructs of schemas, for what has to say all of them in another language."""

GROUP = "constructs.example.com"
FILES = {
    "v1.yaml": """
        title: Thing
        description: Something with many constructs.
        type: object
        required: [name, parts]
        properties:
          name: {type: string, pattern: "^[a-z][-a-z0-9]*$", minLength: 1, maxLength: 20}
          level: {type: string, enum: [low, high], default: low}
          steps: {type: integer, enum: [1, 2, 3]}
          ratio: {type: number, exclusiveMinimum: 0, maximum: 1, multipleOf: 0.25}
          flag: {type: boolean, default: true}
          nothing: {type: [string, "null"], maxLength: 4}
          looked: {type: string, pattern: "^(?!x).*$"}
          when: {type: string, format: date-time}
          code: {type: string, format: uuid}
          either: {type: [integer, string]}
          mixed: {oneOf: [{type: string}, {type: array, items: {type: string}}]}
          names: {type: array, items: {type: string, pattern: "^[a-z]+$", maxLength: 5}, maxItems: 3, uniqueItems: true}
          matrix: {type: array, items: {type: array, items: {type: integer, minimum: 0}}}
          limits: {type: object, additionalProperties: {type: integer, minimum: 1}}
          named: {type: object, additionalProperties: {type: array, items: {$ref: "#/$defs/Part"}}}
          free: {type: object, additionalProperties: true}
          anything: {}
          open: {type: object, properties: {known: {type: string}}, additionalProperties: {type: integer}}
          loose: {type: object, properties: {known: {type: string}}, additionalProperties: true}
          parts: {type: array, items: {$ref: "#/$defs/Part"}}
          keyed:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [name]
            items: {$ref: "#/$defs/Part"}
          unkeyed:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [name]
            items: {type: object, properties: {name: {type: string}}}
          words: {type: array, items: {type: string, description: "One word.", example: spoken}, example: [a, b]}
          notes: {type: object, additionalProperties: {type: string, description: "One note.", examples: [first, second]}}
          grid: {type: array, items: {type: array, items: {type: number, description: "One cell."}}}
          others: {type: array, items: {$ref: "#/$defs/Part", description: "Another part.", example: {name: left}}}
          guesses: {type: array, items: {description: "Whatever it is."}}
          written: {type: object, additionalProperties: {description: "Whatever it says."}}
          ports: {type: array, items: {type: [integer, string], description: "A port.", example: 80}}
          listed: {type: array, items: {type: string, enum: [x, y], description: "Either.", example: x}}
          tree: {$ref: "#/$defs/Node"}
          shape:
            oneOf:
              - {$ref: "#/$defs/Circle"}
              - {$ref: "#/$defs/Square"}
          made: {type: object, default: {by: hand}, properties: {by: {type: string}}}
          status: {type: object, properties: {phase: {type: string}}}
        $defs:
          Part:
            type: object
            description: A part.
            required: [name]
            example: {name: right}
            properties: {name: {type: string}, size: {type: integer, format: int32, default: 1}}
          Node:
            type: object
            properties:
              value: {type: string}
              children: {type: array, items: {$ref: "#/$defs/Node"}}
              other: {$ref: "#/$defs/Node"}
          Circle:
            type: object
            required: [kind]
            properties: {kind: {const: circle}, radius: {type: number}}
          Square:
            type: object
            required: [kind]
            properties: {kind: {const: square}, side: {type: number}}
        """,
    "v2.yaml": """
        title: Thing
        description: Something with fewer of them.
        type: object
        deprecated: true
        properties:
          name: {type: string}
          level: {type: string}
        additionalProperties: true
        """,
}
CONFIG = {"kubernetes": {"group": GROUP}}
